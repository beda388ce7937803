"""Workers who stay awake for a whole table of launches: a loop of any kernel in it is handed to them without waking.

`run_by_team` wakes Taichi's pool once. The first of its threads to come is the leader: it calls the table's entries one
after the other. The others look out for loops. The parallel_for of the copy of LLVMRuntime that parallel launches pass
is `team_for`: the leader cuts the chunks of a loop into as many stretches as there are workers, so that each finds in
its cache what it had in the loop before; whoever is done with his takes from the others'. The leader waits for chunks
that somebody has begun, and never for somebody who is not there: a worker who wakes late, or whom another process keeps
from its processor, finds its stretch done. Handing out a loop takes less than a microsecond, waking threads 50 to 100.

A ticket is (loop << 32 | next chunk << 16 | end) of one worker's stretch; a chunk is taken by counting it up. That
fails if the ticket is of another loop by then, so that who read function and context of one loop never uses them for
another: they change only after all chunks were taken and done. They stand in the line of each ticket, and each worker
tells in a line of its own how many chunks he has done since the table began, behind each stretch: what moves between
two processors, 0.1 to 1.2 us a line, is most of what a short loop costs.

Without a team, `team_for` does all on the calling thread, or wakes the pool for each loop where threads are not
pinned.
"""

import ctypes
import re
import time

from . import team

LINE = 16  # numbers of 8 bytes in a line, which has one writer at a time: see kernels/team.py
(TABLE, FIRST, N, TIMES, RESULT, SIZE, ACTIVE, BEGAN, ENDED, WAITED, CALLED, RETURNED, POOL, POOL_FOR,
 BY_POOL) = range(15)  # fmt: skip
# the leader's: how many loops there were, and chunks in them; of each worker: ticket, function and context; chunks done
JOINED, QUIT, LOOP, TICKETS, DONE = LINE, 2 * LINE, 3 * LINE, 4 * LINE, (4 + team.MOST) * LINE
NUMBERS = DONE + LINE * team.MOST


class State:
    """Numbers that workers share.

    address  where they are.  woken  how often the pool was woken.
    """

    def __init__(self, call, pool, pool_for):
        self._call, self.woken = call, 0
        self._buffer = ctypes.create_string_buffer(8 * (NUMBERS + LINE))
        self.address = -(-ctypes.addressof(self._buffer) // (8 * LINE)) * 8 * LINE
        self.numbers = (ctypes.c_int64 * NUMBERS).from_address(self.address)
        self.numbers[POOL], self.numbers[POOL_FOR] = pool, pool_for

    def leave(self, by_pool):
        """Says how loops are done outside of `run`: by all threads of the pool, or on the calling one."""
        self.numbers[BY_POOL] = by_pool

    def run(self, d, size, table, first, n, times):
        """Calls a table's entries as `Road.call` does, by a team of this size at most."""
        at, lines, began = self.numbers, d.device("team").host, time.perf_counter()
        at[SIZE], at[BY_POOL], self.woken = size, 0, self.woken + 1
        team.ask(lines)
        done = self._call(self.address, table, first, n, times)
        whole = max(1, at[RETURNED] - at[CALLED])
        asleep = 1 - (at[ENDED] - at[BEGAN]) / whole
        team.look(lines, size, time.perf_counter() - began, asleep, at[WAITED] / whole)
        return done


SUPPORT = """
declare i64 @llvm.readcyclecounter()
declare void @llvm.x86.sse2.pause()
%task = type void (i8*, i32, i32)
define i64 @run_by_team(i64* %s, i64 %table, i64 %first, i64 %n, i64 %times) {
entry:
  call void @put(i64* %s, i64 TABLE, i64 %table)
  call void @put(i64* %s, i64 FIRST, i64 %first)
  call void @put(i64* %s, i64 N, i64 %n)
  call void @put(i64* %s, i64 TIMES, i64 %times)
  call void @put(i64* %s, i64 JOINED, i64 0)
  call void @put(i64* %s, i64 QUIT, i64 0)
  call void @put(i64* %s, i64 WAITED, i64 0)
  call void @put(i64* %s, i64 CHUNKS, i64 0)
  br label %clear
clear:
  %w = phi i64 [ 0, %entry ], [ %w1, %clear ]
  %w1 = add i64 %w, 1
  %lw = mul i64 %w, LINE
  %dw = add i64 %lw, DONE
  call void @put(i64* %s, i64 %dw, i64 0)
  %some = icmp slt i64 %w1, MOST
  br i1 %some, label %clear, label %call
call:
  %t0 = call i64 @llvm.readcyclecounter()
  call void @put(i64* %s, i64 CALLED, i64 %t0)
  %pool64 = call i64 @get(i64* %s, i64 POOL)
  %for64 = call i64 @get(i64* %s, i64 POOL_FOR)
  %size64 = call i64 @get(i64* %s, i64 SIZE)
  %pool = inttoptr i64 %pool64 to i8*
  %for = inttoptr i64 %for64 to void (i8*, i32, i32, i8*, %task*)*
  %size = trunc i64 %size64 to i32
  %context = bitcast i64* %s to i8*
  call void %for(i8* %pool, i32 %size, i32 %size, i8* %context, %task* @member)
  %t1 = call i64 @llvm.readcyclecounter()
  call void @put(i64* %s, i64 RETURNED, i64 %t1)
  %r = call i64 @get(i64* %s, i64 RESULT)
  ret i64 %r
}
define private void @member(i8* %context, i32 %thread, i32 %i) {
entry:
  %s = bitcast i8* %context to i64*
  %pj = getelementptr i64, i64* %s, i64 JOINED
  %me = atomicrmw add i64* %pj, i64 1 acq_rel
  %first = icmp eq i64 %me, 0
  br i1 %first, label %lead, label %serve
lead:
  %t0 = call i64 @llvm.readcyclecounter()
  call void @put(i64* %s, i64 BEGAN, i64 %t0)
  %size = call i64 @get(i64* %s, i64 SIZE)
  call void @put(i64* %s, i64 ACTIVE, i64 %size)
  %table64 = call i64 @get(i64* %s, i64 TABLE)
  %a = call i64 @get(i64* %s, i64 FIRST)
  %n = call i64 @get(i64* %s, i64 N)
  %times = call i64 @get(i64* %s, i64 TIMES)
  %table = inttoptr i64 %table64 to %entry*
  %r = call i64 @run(%entry* %table, i64 %a, i64 %n, i64 %times)
  call void @put(i64* %s, i64 RESULT, i64 %r)
  call void @put(i64* %s, i64 ACTIVE, i64 0)
  %t1 = call i64 @llvm.readcyclecounter()
  call void @put(i64* %s, i64 ENDED, i64 %t1)
  call void @put(i64* %s, i64 QUIT, i64 1)
  ret void
serve:
  %line = mul i64 %me, LINE
  %mine = add i64 %line, TICKETS
  br label %look
look:
  %seen = phi i64 [ -1, %serve ], [ %seen, %pause ], [ %loop, %act ]
  %ticket = call i64 @get(i64* %s, i64 %mine)
  %loop = lshr i64 %ticket, 32
  %other = icmp ne i64 %loop, %seen
  br i1 %other, label %act, label %idle
act:
  call void @work(i64* %s, i64 %me)
  br label %look
idle:
  %q = call i64 @get(i64* %s, i64 QUIT)
  %over = icmp ne i64 %q, 0
  br i1 %over, label %leave, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  br label %look
leave:
  ret void
}
define private void @work(i64* %s, i64 %me) {
entry:
  %size = call i64 @get(i64* %s, i64 SIZE)
  %me32 = trunc i64 %me to i32
  %line = mul i64 %me, LINE
  %mine = add i64 %line, DONE
  br label %stretch
stretch:
  %k = phi i64 [ 0, %entry ], [ %next, %empty ]
  %some = icmp slt i64 %k, %size
  br i1 %some, label %whose, label %leave
whose:
  %sum = add i64 %me, %k
  %w = urem i64 %sum, %size
  %their = mul i64 %w, LINE
  %place = add i64 %their, TICKETS
  %function = add i64 %place, 1
  %context = add i64 %place, 2
  %pt = getelementptr i64, i64* %s, i64 %place
  br label %look
look:
  %did = phi i64 [ 0, %whose ], [ %did, %take ], [ %did1, %act ]
  %ticket = load atomic i64, i64* %pt acquire, align 8
  %high = lshr i64 %ticket, 16
  %chunk = and i64 %high, 65535
  %end = and i64 %ticket, 65535
  %left = icmp ult i64 %chunk, %end
  br i1 %left, label %take, label %behind
take:
  %f64 = call i64 @get(i64* %s, i64 %function)
  %c64 = call i64 @get(i64* %s, i64 %context)
  %after = add i64 %ticket, 65536
  %pair = cmpxchg i64* %pt, i64 %ticket, i64 %after acq_rel acquire
  %taken = extractvalue { i64, i1 } %pair, 1
  br i1 %taken, label %act, label %look
act:
  %f = inttoptr i64 %f64 to %task*
  %c = inttoptr i64 %c64 to i8*
  %i = trunc i64 %chunk to i32
  call void %f(i8* %c, i32 %me32, i32 %i)
  %did1 = add i64 %did, 1
  br label %look
behind:
  %none = icmp eq i64 %did, 0
  br i1 %none, label %empty, label %tell
tell:
  %before = call i64 @get(i64* %s, i64 %mine)
  %all = add i64 %before, %did
  call void @put(i64* %s, i64 %mine, i64 %all)
  br label %empty
empty:
  %next = add i64 %k, 1
  br label %stretch
leave:
  ret void
}
define void @team_for(i8* %pool, i32 %n32, i32 %threads, i8* %context, %task* %f) {
entry:
  %s = bitcast i8* %pool to i64*
  %n = zext i32 %n32 to i64
  %size = call i64 @get(i64* %s, i64 ACTIVE)
  %alone = icmp slt i64 %size, 2
  %few = icmp slt i32 %n32, 2
  %many = icmp sgt i32 %n32, 65535
  %x = or i1 %alone, %few
  %y = or i1 %x, %many
  br i1 %y, label %nobody, label %share
nobody:
  %by_pool = call i64 @get(i64* %s, i64 BY_POOL)
  %wake = icmp ne i64 %by_pool, 0
  br i1 %wake, label %waken, label %serial
waken:
  %p64 = call i64 @get(i64* %s, i64 POOL)
  %g64 = call i64 @get(i64* %s, i64 POOL_FOR)
  %p = inttoptr i64 %p64 to i8*
  %g = inttoptr i64 %g64 to void (i8*, i32, i32, i8*, %task*)*
  call void %g(i8* %p, i32 %n32, i32 %n32, i8* %context, %task* %f)
  ret void
serial:
  call void @serial_for(i8* %pool, i32 %n32, i32 %threads, i8* %context, %task* %f)
  ret void
share:
  %f64 = ptrtoint %task* %f to i64
  %c64 = ptrtoint i8* %context to i64
  %old = call i64 @get(i64* %s, i64 LOOP)
  %loop = add i64 %old, 1
  call void @put(i64* %s, i64 LOOP, i64 %loop)
  %chunks = call i64 @get(i64* %s, i64 CHUNKS)
  %target = add i64 %chunks, %n
  call void @put(i64* %s, i64 CHUNKS, i64 %target)
  %id = shl i64 %loop, 32
  br label %cut
cut:
  %w = phi i64 [ 0, %share ], [ %w1, %cut ]
  %begin = phi i64 [ 0, %share ], [ %end, %cut ]
  %w1 = add i64 %w, 1
  %upto = mul i64 %n, %w1
  %end = udiv i64 %upto, %size
  %begin16 = shl i64 %begin, 16
  %stretch = or i64 %begin16, %end
  %ticket = or i64 %id, %stretch
  %line = mul i64 %w, LINE
  %place = add i64 %line, TICKETS
  %function = add i64 %place, 1
  %where = add i64 %place, 2
  call void @put(i64* %s, i64 %function, i64 %f64)
  call void @put(i64* %s, i64 %where, i64 %c64)
  call void @put(i64* %s, i64 %place, i64 %ticket)
  %more = icmp slt i64 %w1, %size
  br i1 %more, label %cut, label %own
own:
  call void @work(i64* %s, i64 0)
  %d0 = call i64 @done(i64* %s, i64 %size)
  %all0 = icmp eq i64 %d0, %target
  br i1 %all0, label %leave, label %wait
wait:
  %t0 = call i64 @llvm.readcyclecounter()
  br label %look
look:
  call void @llvm.x86.sse2.pause()
  %d = call i64 @done(i64* %s, i64 %size)
  %all = icmp eq i64 %d, %target
  br i1 %all, label %done, label %look
done:
  %t1 = call i64 @llvm.readcyclecounter()
  %t = sub i64 %t1, %t0
  %before = call i64 @get(i64* %s, i64 WAITED)
  %sum = add i64 %before, %t
  call void @put(i64* %s, i64 WAITED, i64 %sum)
  br label %leave
leave:
  ret void
}
define private i64 @done(i64* %s, i64 %size) {
entry:
  br label %one
one:
  %w = phi i64 [ 0, %entry ], [ %w1, %one ]
  %sum = phi i64 [ 0, %entry ], [ %next, %one ]
  %line = mul i64 %w, LINE
  %place = add i64 %line, DONE
  %d = call i64 @get(i64* %s, i64 %place)
  %next = add i64 %sum, %d
  %w1 = add i64 %w, 1
  %more = icmp slt i64 %w1, %size
  br i1 %more, label %one, label %all
all:
  ret i64 %next
}
define private i64 @get(i64* %s, i64 %i) alwaysinline {
  %p = getelementptr i64, i64* %s, i64 %i
  %v = load atomic i64, i64* %p acquire, align 8
  ret i64 %v
}
define private void @put(i64* %s, i64 %i, i64 %v) alwaysinline {
  %p = getelementptr i64, i64* %s, i64 %i
  store atomic i64 %v, i64* %p release, align 8
  ret void
}
"""
_PLACES = dict(
    TABLE=TABLE, FIRST=FIRST, N=N, TIMES=TIMES, RESULT=RESULT, SIZE=SIZE, ACTIVE=ACTIVE, BEGAN=BEGAN, ENDED=ENDED,
    WAITED=WAITED, CALLED=CALLED, RETURNED=RETURNED, POOL=POOL, POOL_FOR=POOL_FOR, BY_POOL=BY_POOL, JOINED=JOINED,
    QUIT=QUIT, LOOP=LOOP, CHUNKS=LOOP + 1, DONE=DONE, TICKETS=TICKETS, LINE=LINE, MOST=team.MOST,
)  # fmt: skip
SUPPORT = re.sub(r"\b[A-Z][A-Z_]*\b", lambda word: str(_PLACES[word[0]]), SUPPORT)
