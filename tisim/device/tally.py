"""What the host asked of a device that is not the CPU: kernels, the bytes of the arrays that they take, and reads."""


class Tally:
    """Sums since `clear`.

    kernels  launched, each of one or more tasks;  reads  copies to the host, for which the device is waited;
    bytes    of the arrays that the kernels take, each as often as one takes it: no kernel can read or write more at
             once, most touch less.
    """

    def __init__(self):
        self.clear()

    def clear(self):
        self.kernels = self.reads = self.bytes = 0


tally = Tally()
