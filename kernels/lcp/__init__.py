"""Hard contacts in maximal coordinates: dynamics="lcp". Seed 002; tisim/LCP.md is the chapter."""
