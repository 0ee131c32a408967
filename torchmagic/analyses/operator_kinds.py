"""This file is the kinds of operators that rules on speed tell apart, by torch's names."""


def _aten(names: str) -> frozenset[str]:
    return frozenset(f"aten::{name}" for name in names.split())


# Reads of a value by the host. The first calls the second, the second the third.
READS = ("aten::is_nonzero", "aten::item", "aten::_local_scalar_dense")
MATRIX_PRODUCTS = _aten("""
    mm addmm bmm baddbmm addbmm matmul linear mkldnn_linear _addmm_activation mkldnn_rnn_layer
    mkldnn_rnn_layer_backward _cudnn_rnn _cudnn_rnn_backward _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_flash_attention_for_cpu_backward _scaled_dot_product_efficient_attention
    _scaled_dot_product_efficient_attention_backward
""")
CONVOLUTIONS = _aten("""
    convolution _convolution conv1d conv2d conv3d mkldnn_convolution cudnn_convolution thnn_conv2d
    slow_conv2d_forward _slow_conv2d_forward _slow_conv2d_backward slow_conv3d_forward convolution_backward
    convolution_overrideable _conv_depthwise2d cudnn_convolution_add_relu
""")
# One result for each value, computed from that value alone: what a compiler makes one loop of.
ELEMENTWISE = _aten("""
    add add_ sub sub_ rsub mul mul_ div div_ neg pow exp log log1p sqrt rsqrt reciprocal abs sign sin cos tanh sigmoid
    relu relu_ leaky_relu elu gelu silu silu_ mish hardtanh hardtanh_ hardswish softplus clamp clamp_min clamp_max
    where erf maximum minimum addcmul addcdiv lerp masked_fill masked_fill_ eq ne lt gt le ge logical_and logical_not
    bitwise_not square threshold_backward gelu_backward silu_backward tanh_backward sigmoid_backward
    leaky_relu_backward elu_backward softplus_backward hardtanh_backward mish_backward native_dropout
    native_dropout_backward bernoulli_
""")
# Functions in which a dataset makes a sample, or a loader a batch of samples.
LOADING_FUNCTIONS = frozenset({"__getitem__", "__getitems__", "__iter__", "__next__", "collate_fn", "collate"})
