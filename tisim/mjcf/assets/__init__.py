"""Meshes, height fields, textures, skins and their files."""
