"""Forms of convolutions: a table of names, shapes, dimension labels and windows, and what each computes."""
import collections, math, re

TYPES = ['f32', 'f64', 'f16', 'bf16', 'f8e4m3fn', 'f8e5m2', 'c64', 'c128', 's8', 'u8', 's16', 's32', 's64']

# name: left * right labels [window attributes] [groups=N] [batch_groups=N]
TABLE = '''
plain 3x3: 1,28,28,64 * 3,3,64,64 b01f_01io->b01f pad=1_1x1_1
plain 3x3 of 8 images: 8,14,14,32 * 3,3,32,32 b01f_01io->b01f pad=1_1x1_1
plain 1x1: 1,28,28,128 * 1,1,128,128 b01f_01io->b01f
plain 1x1 of 8 images: 8,14,14,96 * 1,1,96,96 b01f_01io->b01f
plain 5x5: 2,28,28,32 * 5,5,32,32 b01f_01io->b01f pad=2_2x2_2
plain 7x7 from 3: 1,112,112,3 * 7,7,3,64 b01f_01io->b01f stride=2x2 pad=3_3x3_3
patches of 16x16: 1,224,224,3 * 16,16,3,64 b01f_01io->b01f stride=16x16
odd sizes: 1,29,31,37 * 3,3,37,41 b01f_01io->b01f pad=1_1x1_1
small odd sizes: 1,17,19,23 * 3,3,23,29 b01f_01io->b01f
small images, many features: 1,7,7,256 * 3,3,256,256 b01f_01io->b01f pad=1_1x1_1
64 small images: 64,8,8,16 * 3,3,16,16 b01f_01io->b01f pad=1_1x1_1
stride 2: 2,28,28,64 * 3,3,64,64 b01f_01io->b01f stride=2x2 pad=0_1x0_1
stride 2, 1x1: 2,28,28,128 * 1,1,128,128 b01f_01io->b01f stride=2x2
stride 3x1: 2,28,28,64 * 3,3,64,64 b01f_01io->b01f stride=3x1 pad=1_1x1_1
even window: 2,28,28,32 * 4,4,32,32 b01f_01io->b01f stride=2x2 pad=1_1x1_1
one row of taps: 1,28,28,64 * 1,7,64,64 b01f_01io->b01f pad=0_0x3_3
one column of taps: 1,28,28,64 * 7,1,64,64 b01f_01io->b01f pad=3_3x0_0
NCHW: 1,64,28,28 * 64,64,3,3 bf01_oi01->bf01 pad=1_1x1_1
NCHW of 8 small images: 8,32,14,14 * 32,32,3,3 bf01_oi01->bf01 pad=1_1x1_1
NCHW, 1x1: 1,128,28,28 * 128,128,1,1 bf01_oi01->bf01
NCHW, stride 2: 2,64,28,28 * 64,64,3,3 bf01_oi01->bf01 stride=2x2 pad=1_1x1_1
NCHW, stride 2, 1x1: 2,128,28,28 * 128,128,1,1 bf01_oi01->bf01 stride=2x2
NCHW from 3: 1,3,112,112 * 64,3,7,7 bf01_oi01->bf01 stride=2x2 pad=3_3x3_3
NCHW, odd sizes: 1,37,29,31 * 41,37,3,3 bf01_oi01->bf01 pad=1_1x1_1
CHWN: 64,14,14,8 * 64,3,3,64 f01b_i01o->f01b pad=1_1x1_1
HWNC: 14,14,8,64 * 3,3,64,64 01bf_01io->01bf pad=1_1x1_1
HWCN: 14,14,64,8 * 3,3,64,64 01fb_01io->01fb pad=1_1x1_1
NHCW: 1,28,64,28 * 3,64,64,3 b0f1_0io1->b0f1 pad=1_1x1_1
NCHW to NHWC: 1,64,28,28 * 3,3,64,64 bf01_01io->b01f pad=1_1x1_1
NHWC to NCHW: 1,28,28,64 * 64,64,3,3 b01f_oi01->bf01 pad=1_1x1_1
weights OHWI: 1,28,28,64 * 64,3,3,64 b01f_o01i->b01f pad=1_1x1_1
weights IOHW: 1,28,28,64 * 64,64,3,3 b01f_io01->b01f pad=1_1x1_1
NWHC: 1,28,28,64 * 3,3,64,64 b10f_10io->b10f pad=1_1x1_1
1-D: 4,256,64 * 5,64,64 b0f_0io->b0f pad=2_2
1-D, NCW: 4,64,256 * 64,64,5 bf0_oi0->bf0 pad=2_2
1-D, causal: 2,512,64 * 4,64,64 b0f_0io->b0f pad=3_0
1-D, dilated: 2,512,64 * 3,64,64 b0f_0io->b0f pad=8_8 rhs_dilate=8
1-D, depthwise: 4,512,256 * 4,1,256 b0f_0io->b0f pad=3_0 groups=256
1-D, depthwise, NCW: 4,256,512 * 256,1,4 bf0_oi0->bf0 pad=3_0 groups=256
1-D from 1: 4,4096,1 * 16,1,32 b0f_0io->b0f stride=4
1-D, one signal and one filter: 1,16384,1 * 64,1,1 b0f_0io->b0f
3-D: 1,10,10,10,32 * 3,3,3,32,32 b012f_012io->b012f pad=1_1x1_1x1_1
3-D, NCDHW: 1,32,10,10,10 * 32,32,3,3,3 bf012_oi012->bf012 pad=1_1x1_1x1_1
3-D, stride 2: 1,16,16,16,32 * 3,3,3,32,32 b012f_012io->b012f stride=2x2x2 pad=1_1x1_1x1_1
3-D, depthwise: 1,14,14,14,64 * 3,3,3,1,64 b012f_012io->b012f pad=1_1x1_1x1_1 groups=64
3-D from 1: 1,24,24,24,1 * 3,3,3,1,16 b012f_012io->b012f pad=1_1x1_1x1_1
4-D: 1,6,6,6,6,16 * 3,3,3,3,16,16 b0123f_0123io->b0123f pad=1_1x1_1x1_1x1_1
no windows: 256,128 * 128,128 bf_io->bf
groups of 2: 4,28,28,64 * 3,3,2,64 b01f_01io->b01f pad=1_1x1_1 groups=32
groups of 3 to 5: 4,28,28,48 * 3,3,3,80 b01f_01io->b01f pad=1_1x1_1 groups=16
groups of 4: 4,28,28,64 * 3,3,4,64 b01f_01io->b01f pad=1_1x1_1 groups=16
groups of 4 to 8: 4,28,28,64 * 3,3,4,128 b01f_01io->b01f pad=1_1x1_1 groups=16
groups of 8 to 4: 4,28,28,64 * 3,3,8,32 b01f_01io->b01f pad=1_1x1_1 groups=8
groups of 8: 4,28,28,64 * 3,3,8,64 b01f_01io->b01f pad=1_1x1_1 groups=8
groups of 16: 2,28,28,128 * 3,3,16,128 b01f_01io->b01f pad=1_1x1_1 groups=8
groups of 32: 2,28,28,128 * 3,3,32,128 b01f_01io->b01f pad=1_1x1_1 groups=4
2 groups: 1,28,28,128 * 3,3,64,128 b01f_01io->b01f pad=1_1x1_1 groups=2
groups of 4, NCHW: 4,64,28,28 * 64,4,3,3 bf01_oi01->bf01 pad=1_1x1_1 groups=16
groups of 16, NCHW: 2,128,28,28 * 128,16,3,3 bf01_oi01->bf01 pad=1_1x1_1 groups=8
groups of 4, stride 2: 4,28,28,64 * 3,3,4,64 b01f_01io->b01f stride=2x2 pad=1_1x1_1 groups=16
groups of 16, stride 2: 2,28,28,128 * 3,3,16,128 b01f_01io->b01f stride=2x2 pad=1_1x1_1 groups=8
groups of 4, 1x1: 4,28,28,128 * 1,1,4,128 b01f_01io->b01f groups=32
groups of 16, 1x1: 4,28,28,128 * 1,1,16,128 b01f_01io->b01f groups=8
groups of 4, dilated: 4,28,28,64 * 3,3,4,64 b01f_01io->b01f pad=2_2x2_2 rhs_dilate=2x2 groups=16
groups of 8, reversed: 4,28,28,64 * 3,3,8,64 b01f_01io->b01f pad=1_1x1_1 rhs_reversal=1x1 groups=8
groups of 4, CHWN: 64,28,28,4 * 4,3,3,64 f01b_i01o->f01b pad=1_1x1_1 groups=16
depthwise: 4,28,28,128 * 3,3,1,128 b01f_01io->b01f pad=1_1x1_1 groups=128
depthwise, 2 each: 4,28,28,64 * 3,3,1,128 b01f_01io->b01f pad=1_1x1_1 groups=64
depthwise, 4 each: 4,28,28,32 * 3,3,1,128 b01f_01io->b01f pad=1_1x1_1 groups=32
depthwise, stride 2: 4,56,56,64 * 3,3,1,64 b01f_01io->b01f stride=2x2 pad=0_1x0_1 groups=64
depthwise 5x5: 4,28,28,64 * 5,5,1,64 b01f_01io->b01f pad=2_2x2_2 groups=64
depthwise 7x7: 1,28,28,128 * 7,7,1,128 b01f_01io->b01f pad=3_3x3_3 groups=128
depthwise, NCHW: 4,128,28,28 * 128,1,3,3 bf01_oi01->bf01 pad=1_1x1_1 groups=128
depthwise, NCHW, 2 each: 4,64,28,28 * 128,1,3,3 bf01_oi01->bf01 pad=1_1x1_1 groups=64
depthwise, NCHW, stride 2: 4,64,56,56 * 64,1,3,3 bf01_oi01->bf01 stride=2x2 pad=1_1x1_1 groups=64
depthwise, dilated: 4,28,28,128 * 3,3,1,128 b01f_01io->b01f pad=2_2x2_2 rhs_dilate=2x2 groups=128
depthwise, reversed: 4,28,28,128 * 3,3,1,128 b01f_01io->b01f pad=1_1x1_1 rhs_reversal=1x1 groups=128
depthwise, odd count: 4,28,28,37 * 3,3,1,37 b01f_01io->b01f pad=1_1x1_1 groups=37
depthwise, CHWN: 64,28,28,8 * 1,3,3,64 f01b_i01o->f01b pad=1_1x1_1 groups=64
transposed, stride 2: 1,28,28,32 * 3,3,32,64 b01f_01io->b01f pad=1_2x1_2 lhs_dilate=2x2
transposed 4x4, stride 2: 1,14,14,64 * 4,4,64,64 b01f_01io->b01f pad=2_2x2_2 lhs_dilate=2x2
transposed 2x2, stride 2: 1,28,28,64 * 2,2,64,64 b01f_01io->b01f pad=1_1x1_1 lhs_dilate=2x2
transposed, stride 3: 1,14,14,64 * 3,3,64,64 b01f_01io->b01f pad=2_2x2_2 lhs_dilate=3x3
transposed, NCHW: 1,32,28,28 * 64,32,3,3 bf01_oi01->bf01 pad=1_2x1_2 lhs_dilate=2x2
transposed, depthwise: 4,14,14,128 * 4,4,1,128 b01f_01io->b01f pad=2_2x2_2 lhs_dilate=2x2 groups=128
transposed, groups of 4: 4,14,14,64 * 4,4,4,64 b01f_01io->b01f pad=2_2x2_2 lhs_dilate=2x2 groups=16
transposed, stride 2 again: 2,28,28,64 * 3,3,64,64 b01f_01io->b01f stride=2x2 pad=1_1x1_1 lhs_dilate=3x3
transposed to 3: 1,28,28,64 * 4,4,64,3 b01f_01io->b01f pad=2_2x2_2 lhs_dilate=2x2
transposed, 1-D: 2,256,64 * 4,64,64 b0f_0io->b0f pad=2_2 lhs_dilate=2
transposed, 3-D: 1,8,8,8,32 * 2,2,2,32,32 b012f_012io->b012f pad=1_1x1_1x1_1 lhs_dilate=2x2x2
dilated by 2: 1,28,28,64 * 3,3,64,64 b01f_01io->b01f pad=2_2x2_2 rhs_dilate=2x2
dilated by 6: 1,28,28,64 * 3,3,64,64 b01f_01io->b01f pad=6_6x6_6 rhs_dilate=6x6
dilated, NCHW: 1,64,28,28 * 64,64,3,3 bf01_oi01->bf01 pad=2_2x2_2 rhs_dilate=2x2
both dilated: 1,14,14,64 * 3,3,64,64 b01f_01io->b01f pad=3_3x3_3 lhs_dilate=2x2 rhs_dilate=3x3
padded on one side: 1,28,28,64 * 3,3,64,64 b01f_01io->b01f pad=2_0x0_2
padded far: 1,20,20,64 * 3,3,64,64 b01f_01io->b01f pad=6_6x6_6
padded negatively: 1,32,32,64 * 3,3,64,64 b01f_01io->b01f pad=-1_-2x-2_-1
padded negatively, NCHW: 1,64,32,32 * 64,64,3,3 bf01_oi01->bf01 pad=-1_-2x-2_-1
padded negatively, depthwise: 4,32,32,128 * 3,3,1,128 b01f_01io->b01f pad=-1_1x1_-1 groups=128
padded negatively, transposed: 1,28,28,32 * 3,3,32,64 b01f_01io->b01f pad=-3_2x1_-3 lhs_dilate=2x2
reversed: 1,28,28,64 * 3,3,64,64 b01f_01io->b01f pad=1_1x1_1 rhs_reversal=1x1
reversed, NCHW: 1,64,28,28 * 64,64,3,3 bf01_oi01->bf01 pad=1_1x1_1 rhs_reversal=1x1
from 1: 4,28,28,1 * 3,3,1,32 b01f_01io->b01f pad=1_1x1_1
from 3: 1,56,56,3 * 3,3,3,32 b01f_01io->b01f pad=1_1x1_1
from 4 to 8: 1,56,56,4 * 3,3,4,8 b01f_01io->b01f pad=1_1x1_1
from 2 to 2: 1,112,112,2 * 3,3,2,2 b01f_01io->b01f pad=1_1x1_1
from 1 to 1: 1,256,256,1 * 5,5,1,1 b01f_01io->b01f pad=2_2x2_2
to 1: 1,56,56,64 * 3,3,64,1 b01f_01io->b01f pad=1_1x1_1
to 3: 1,56,56,64 * 3,3,64,3 b01f_01io->b01f pad=1_1x1_1
to 2, 1x1: 1,56,56,256 * 1,1,256,2 b01f_01io->b01f
to 3, NCHW: 1,64,56,56 * 3,64,3,3 bf01_oi01->bf01 pad=1_1x1_1
from 3, 1x1: 1,112,112,3 * 1,1,3,32 b01f_01io->b01f
gradient by inputs: 1,28,28,64 * 3,3,64,64 b01f_01oi->b01f pad=1_1x1_1 rhs_reversal=1x1
gradient by inputs, stride 2: 2,14,14,64 * 3,3,64,64 b01f_01oi->b01f pad=1_2x1_2 lhs_dilate=2x2 rhs_reversal=1x1
gradient by inputs, NCHW: 1,64,28,28 * 64,64,3,3 bf01_io01->bf01 pad=1_1x1_1 rhs_reversal=1x1
gradient by inputs, depthwise, stride 2: 4,14,14,128 * 3,3,128,1 b01f_01oi->b01f pad=1_2x1_2 lhs_dilate=2x2 rhs_reversal=1x1 groups=128
gradient by weights: 8,14,14,64 * 8,14,14,64 f01b_i01o->01bf pad=1_1x1_1
gradient by weights, 1 image: 1,28,28,64 * 1,28,28,64 f01b_i01o->01bf pad=1_1x1_1
gradient by weights, 1x1: 8,14,14,96 * 8,14,14,96 f01b_i01o->01bf
gradient by weights, stride 2: 4,28,28,64 * 4,14,14,64 f01b_i01o->01bf pad=0_1x0_1 rhs_dilate=2x2
gradient by weights, from 3: 4,56,56,3 * 4,28,28,64 f01b_i01o->01bf pad=3_2x3_2 rhs_dilate=2x2
gradient by weights, NCHW: 8,64,14,14 * 8,64,14,14 fb01_io01->fb01 pad=1_1x1_1
gradient by weights, 1-D: 8,128,64 * 8,128,64 f0b_i0o->0bf pad=1_1
gradient by weights, 3-D: 2,10,10,10,32 * 2,10,10,10,32 f012b_i012o->012bf pad=1_1x1_1x1_1
gradient by weights, depthwise: 8,28,28,64 * 8,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=64
gradient by weights, depthwise, 2 each: 8,28,28,32 * 8,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=32
gradient by weights, depthwise, 4 each: 8,28,28,16 * 8,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=16
gradient by weights, depthwise, stride 2: 8,28,28,64 * 8,14,14,64 f01b_i01o->01bf pad=0_1x0_1 rhs_dilate=2x2 batch_groups=64
gradient by weights, depthwise, NCHW: 8,64,28,28 * 8,64,28,28 fb01_io01->fb01 pad=1_1x1_1 batch_groups=64
gradient by weights, depthwise, 8 channels: 8,56,56,8 * 8,56,56,8 f01b_i01o->01bf pad=1_1x1_1 batch_groups=8
gradient by weights, depthwise, 1-D: 4,512,256 * 4,512,256 f0b_i0o->0bf pad=3_0 batch_groups=256
gradient by weights, groups of 2: 4,28,28,64 * 4,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=32
gradient by weights, groups of 3 to 5: 4,28,28,48 * 4,28,28,80 f01b_i01o->01bf pad=1_1x1_1 batch_groups=16
gradient by weights, groups of 4: 4,28,28,64 * 4,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=16
gradient by weights, groups of 4 to 8: 4,28,28,64 * 4,28,28,128 f01b_i01o->01bf pad=1_1x1_1 batch_groups=16
gradient by weights, groups of 8: 4,28,28,64 * 4,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=8
gradient by weights, groups of 16: 4,28,28,64 * 4,28,28,64 f01b_i01o->01bf pad=1_1x1_1 batch_groups=4
gradient by weights, groups of 4, NCHW: 4,64,28,28 * 4,64,28,28 fb01_io01->fb01 pad=1_1x1_1 batch_groups=16
gradient by weights, groups of 16, NCHW: 4,64,28,28 * 4,64,28,28 fb01_io01->fb01 pad=1_1x1_1 batch_groups=4
8 batch groups of one feature: 8,28,28,8 * 3,3,8,8 b01f_01io->b01f pad=1_1x1_1 batch_groups=8
4 batch groups: 16,14,14,16 * 3,3,16,64 b01f_01io->b01f pad=1_1x1_1 batch_groups=4
2 batch groups, NCHW: 4,32,28,28 * 32,32,3,3 bf01_oi01->bf01 pad=1_1x1_1 batch_groups=2
'''

Dim = collections.namedtuple('Dim', 'size taps result stride left_by right_by low high')  # of space

class Form:
    """One convolution, without its element type."""
    def __init__(self, line):
        self.name, rest = line.split(': ')
        left, _, right, self.labels, *attrs = rest.split()
        attrs = dict(attr.split('=') for attr in attrs)
        self.groups, self.batch_groups = int(attrs.pop('groups', 1)), int(attrs.pop('batch_groups', 1))
        self.left, self.right = [[int(n) for n in dims.split(',')] for dims in (left, right)]
        labels = re.fullmatch(r'(\w+)_(\w+)->(\w+)', self.labels).groups()
        size = lambda dims, order, label: dims[order.index(label)]
        rank = len(self.left) - 2
        taps = [size(self.right, labels[1], str(t)) for t in range(rank)]
        split = lambda key, default: [tuple(int(n) for n in part.split('_')) for part in attrs.get(key, 'x'.join([default] * rank)).split('x')] if rank else []
        stride, left_by, right_by = ([n for n, in split(key, '1')] for key in ('stride', 'lhs_dilate', 'rhs_dilate'))
        pad = split('pad', '0_0')
        self.images, self.inputs = (size(self.left, labels[0], label) for label in 'bf')
        self.kernel_inputs, self.outputs = (size(self.right, labels[1], label) for label in 'io')
        self.dims, self.taps, self.products, out = [], 1, 1, {}
        for t in range(rank):
            n = size(self.left, labels[0], str(t))
            span, reach = (n - 1) * left_by[t] + 1, (taps[t] - 1) * right_by[t] + 1
            out[str(t)] = (span + sum(pad[t]) - reach) // stride[t] + 1
            at = lambda o, k: o * stride[t] + k * right_by[t] - pad[t][0]
            # Taps that meet an element, not padding and not a gap between elements.
            self.products *= sum(0 <= at(o, k) < span and at(o, k) % left_by[t] == 0 for o in range(out[str(t)]) for k in range(taps[t]))
            self.taps *= taps[t]
            self.dims.append(Dim(n, taps[t], out[str(t)], stride[t], left_by[t], right_by[t], *pad[t]))
        out['b'] = self.images // self.batch_groups
        out['f'] = self.outputs
        self.products *= out['b'] * out['f'] * self.kernel_inputs
        self.result = [out[label] for label in labels[2]]
        self.window = ' '.join([f"size={'x'.join(map(str, taps))}"] * bool(rank) + [f'{key}={value}' for key, value in attrs.items()])

    def elements(self):
        """Of operands and result."""
        count = 0
        for dims in (self.left, self.right, self.result):
            n = 1
            for d in dims: n *= d
            count += n
        return count

    def text(self, type):
        shape = lambda dims: f"{type}[{','.join(map(str, dims))}]"
        attrs = f', dim_labels={self.labels}'
        if self.window: attrs = f', window={{{self.window}}}' + attrs
        if self.groups > 1: attrs += f', feature_group_count={self.groups}'
        if self.batch_groups > 1: attrs += f', batch_group_count={self.batch_groups}'
        return (f'HloModule convolution\n\nENTRY main {{\n  x = {shape(self.left)} parameter(0)\n  w = {shape(self.right)} parameter(1)\n'
                f'  ROOT y = {shape(self.result)} convolution(x, w){attrs}\n}}\n')

def forms():
    return [Form(line) for line in TABLE.strip().split('\n')]

def plain_form(form):
    """The nearest one of plain form, which has about as many products."""
    window = 3 if form.taps > 1 else 1
    for features in (64, 32, 16, 8):
        positions = form.products / (window * features) / (window * features)
        if positions >= 64: break
    images = max(1, round(positions / 1024))
    width = 4 * min(8, max(1, round(math.sqrt(positions / images) / 4)))
    return Form(f'plain: {images},{width},{width},{features} * {window},{window},{features},{features} b01f_01io->b01f pad={window // 2}_{window // 2}x{window // 2}_{window // 2}')


LIBRARY_TYPES = ['f32', 'bf16', 's8', 'u8']

def library_form(form, type):
    """The nearest form that a library has, as a line for library_convolutions.cc; None if it has none. Orders of dimensions,
    reversal and padding that takes elements away count as if they were not there. Windows of more than half the image make
    it a gradient by weights, whose batch are the features of the images; batch groups are groups."""
    if type not in LIBRARY_TYPES or not 1 <= len(form.dims) <= 3: return None
    if any(d.left_by > 1 for d in form.dims) and any(d.stride > 1 for d in form.dims): return None
    groups = form.groups * form.batch_groups
    if any((d.taps - 1) * d.right_by + 1 > ((d.size - 1) * d.left_by + 1) / 2 for d in form.dims):
        numbers = ['weights', type, form.inputs, groups, form.images // groups, form.outputs // groups, len(form.dims)]
        for d in form.dims:
            high = (d.taps - 1) * d.right_by + (d.result - 1) * d.stride + 1 - d.size - d.low
            numbers += uncropped(Dim(d.size, d.result, d.taps, d.right_by, 1, d.stride, d.low, high))
    else:
        numbers = ['forward', type, form.images // form.batch_groups, groups, form.kernel_inputs, form.outputs // groups, len(form.dims)]
        for d in form.dims: numbers += uncropped(d)
    return ' '.join(map(str, numbers))

def uncropped(dim):
    """Size, taps, stride, dilations and padding without elements that negative padding takes away."""
    size, pads = dim.size, []
    for pad in (dim.low, dim.high):
        away = max(0, math.ceil(-pad / dim.left_by))
        size -= away
        pads.append(pad + away * dim.left_by)
    return [size, dim.taps, dim.stride, dim.left_by, dim.right_by, *pads]
