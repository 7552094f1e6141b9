"""Mistakes in operators that move, look up, sort and multiply elements."""

from mindspore import Tensor, int64, ops

from tests.defects.mistakes import mistake


@mistake("reshape", "ops.reshape", "elements in another order: the axes are reversed first")
def reshape_in_column_order(x, shape):
    return x.transpose(tuple(range(x.ndim))[::-1]).reshape(shape)


@mistake("permute", "ops.permute", "the inverse permutation")
def permute_by_the_inverse(x, dims):
    places = [dim % x.ndim for dim in dims]
    return x.transpose(tuple(places.index(axis) for axis in range(x.ndim)))


@mistake("transpose", "mint.transpose", "the last two axes, whatever was asked for")
def transpose_the_last_two(x, dim0, dim1):  # noqa: ARG001
    return ops.swapaxes(x, -1, -2) if x.ndim > 1 else x


@mistake("movedim", "ops.movedim", "axes exchanged instead of moved")
def movedim_by_exchange(x, source, destination):
    for one, two in zip(source, destination):  # noqa: B905
        x = ops.swapaxes(x, one, two)
    return x


@mistake("flatten", "ops.flatten", "the default of MindSpore, all but the first axis")
def flatten_but_the_first(x, start_dim, end_dim):  # noqa: ARG001
    return ops.flatten(x)


@mistake("unsqueeze", "ops.unsqueeze", "a new axis in front")
def unsqueeze_in_front(x, dim):  # noqa: ARG001
    return ops.expand_dims(x, 0)


@mistake("squeeze", "ops.squeeze", "every axis of size one")
def squeeze_everything(x, dim=None):  # noqa: ARG001
    return ops.squeeze(x)


@mistake("cat", "ops.cat", "joined along the first axis, the default")
def cat_along_the_first(inputs, dim):  # noqa: ARG001
    return ops.cat(inputs)


@mistake("stack", "ops.stack", "stacked along the first axis, the default")
def stack_along_the_first(inputs, dim):  # noqa: ARG001
    return ops.stack(inputs)


@mistake("split", "mint.split", "the size of a part read as the number of parts")
def split_by_count(x, split_size_or_sections, dim):
    if isinstance(split_size_or_sections, int):
        return ops.tensor_split(x, split_size_or_sections, dim)
    return ops.split(x, split_size_or_sections, dim)


@mistake("chunk", "ops.chunk", "parts as equal as can be, as numpy.array_split makes them")
def chunk_evenly(x, chunks, dim):
    return ops.tensor_split(x, chunks, dim)


@mistake("tensor_split", "ops.tensor_split", "the last part is the short one")
def tensor_split_like_chunk(x, dim, sections=None, indices=None):
    if sections is None:
        return ops.tensor_split(x, indices, dim)
    return ops.chunk(x, sections, dim)


@mistake("repeat", "ops.tile", "each element is repeated in place")
def repeat_each_element(x, repeats):
    x = x.reshape((1,) * (len(repeats) - x.ndim) + x.shape)
    for axis, times in enumerate(repeats):
        x = ops.repeat_elements(x, times, axis)
    return x


@mistake("repeat_interleave", "ops.repeat_interleave", "the whole is repeated, not each element")
def repeat_the_whole(x, repeats, dim=None):
    if dim is None:
        return ops.tile(x.reshape(-1), (repeats,))
    times = [1] * x.ndim
    times[dim] = repeats
    return ops.tile(x, tuple(times))


@mistake("narrow", "mint.narrow", "the length taken for the end")
def narrow_to_an_end(x, dim, start, length):
    return x.swapaxes(0, dim)[start:length].swapaxes(0, dim)


@mistake("getitem", "Tensor.__getitem__", "every step is one")
def index_without_steps(x, index):
    index = [slice(*each[:2]) if isinstance(each, tuple) else each for each in index]
    return x[tuple(... if each == "..." else each for each in index)]


@mistake("rot90", "ops.rot90", "turned the other way")
def rot90_clockwise(x, k, dims):
    return ops.rot90(x, -k, dims)


@mistake("tril", "ops.tril", "the diagonal's offset is lost")
def tril_of_the_main_diagonal(x, diagonal):  # noqa: ARG001
    return ops.tril(x)


@mistake("triu", "ops.triu", "the diagonal counted downwards")
def triu_with_the_offset_negated(x, diagonal):
    return ops.triu(x, -diagonal)


@mistake("meshgrid", "ops.meshgrid", "the indexing of MindSpore's default, xy")
def meshgrid_by_default(*inputs, indexing):  # noqa: ARG001
    return ops.meshgrid(*inputs)


@mistake("cross", "ops.cross", "factors in the other order")
def cross_of_the_second_first(x, y, dim):
    return ops.cross(y, x, dim=dim)


@mistake("gather", "ops.gather_elements", "rows are looked up, not elements")
def gather_rows(x, index, dim):
    return ops.gather(x, index, dim)


@mistake("gather", "mint.gather", "what is looked up is detached")
def gather_detached(x, index, dim):
    return ops.gather_elements(ops.stop_gradient(x), dim, index)


@mistake("index_select", "ops.index_select", "along the first axis")
def index_select_of_the_first(x, index, dim):  # noqa: ARG001
    return ops.index_select(x, 0, index % x.shape[0])


@mistake("masked_fill", "ops.masked_fill", "the mask is the wrong way round")
def masked_fill_of_the_others(x, mask, value):
    return x.masked_fill(ops.logical_not(mask), value)


@mistake("masked_select", "ops.masked_select", "zeros instead of fewer elements")
def masked_select_by_product(x, mask):
    return x * mask.astype(x.dtype)


@mistake("scatter", "ops.tensor_scatter_elements", "added to what is there")
def scatter_and_add(x, index, source, dim):
    return ops.tensor_scatter_elements(x, index, source, dim, reduction="add")


@mistake("scatter_add", "ops.tensor_scatter_elements", "the last of equal places wins")
def scatter_without_adding(x, index, source, dim):
    return ops.tensor_scatter_elements(x, index, source, dim)


@mistake("one_hot", "ops.one_hot", "floats for integers")
def one_hot_of_floats(index, num_classes):
    return ops.one_hot(index, num_classes, Tensor(1.0), Tensor(0.0))


@mistake("one_hot", "ops.one_hot", "classes along the first axis")
def one_hot_along_the_first(index, num_classes):
    return ops.one_hot(index, num_classes, Tensor(1, int64), Tensor(0, int64), 0)


@mistake("sort", "ops.sort", "in ascending order always")
def sort_ascending(x, dim, descending, stable):  # noqa: ARG001
    return ops.sort(x, dim)


@mistake("sort", "ops.sort", "equal elements in the reverse order")
def sort_with_ties_reversed(x, dim, descending, stable):  # noqa: ARG001
    values, order = ops.sort(ops.flip(x, (dim,)), dim, descending)
    return values, x.shape[dim] - 1 - order


@mistake("topk", "ops.topk", "the largest always")
def topk_of_the_largest(x, k, dim, largest):  # noqa: ARG001
    return ops.topk(x, k, dim)


@mistake("topk", "ops.topk", "along the last axis")
def topk_along_the_last(x, k, dim, largest):  # noqa: ARG001
    return ops.topk(x, min(k, x.shape[-1]), -1, largest)


@mistake("bucketize", "ops.bucketize", "bounds belong to the other bucket")
def bucketize_on_the_other_side(x, boundaries, right):
    return ops.bucketize(x, boundaries, right=not right)


@mistake("matmul", "ops.matmul", "what is multiplied is detached")
def matmul_detached(x, y):
    return ops.matmul(x, ops.stop_gradient(y))


@mistake("addmm", "ops.addmm", "beta and alpha exchanged")
def addmm_with_weights_exchanged(x, one, two, beta, alpha):
    return ops.addmm(x, one, two, beta=alpha, alpha=beta)


@mistake("linear", "ops.dense", "the bias is left out")
def linear_without_bias(x, weight, bias=None):  # noqa: ARG001
    return ops.dense(x, weight)


@mistake("attention", "ops.softmax", "scores are not divided by the root of the width")
def attention_unscaled(query, key, value, mask=None, is_causal=False):
    return _attend(query, key, value, mask, is_causal, 1.0, 1)


@mistake("attention", "ops.softmax", "the causal mask hides the key at the same place, too")
def attention_to_earlier_keys_only(query, key, value, mask=None, is_causal=False):
    return _attend(query, key, value, mask, is_causal, query.shape[-1] ** -0.5, 0)


@mistake("attention", "ops.softmax", "the causal mask is left out")
def attention_without_a_causal_mask(query, key, value, mask=None, is_causal=False):  # noqa: ARG001
    return _attend(query, key, value, mask, False, query.shape[-1] ** -0.5, 1)


def _attend(query, key, value, mask, is_causal, scale, diagonal):
    scores = ops.matmul(query, ops.swapaxes(key, -1, -2)) * scale
    if is_causal:
        hidden = ops.full(scores.shape[-2:], -1e4, dtype=scores.dtype)
        mask = ops.triu(hidden, diagonal)
    if mask is not None:
        scores = scores + mask
    return ops.matmul(ops.softmax(scores, axis=-1), value)


@mistake("cosine_similarity", "ops.cosine_similarity", "along the last axis")
def cosine_similarity_along_the_last(x, y, dim, eps):  # noqa: ARG001
    return ops.cosine_similarity(x, y, dim=-1, eps=eps)


@mistake("normalize", "ops.norm", "the norm is always the second")
def normalize_by_the_second_norm(x, p, dim, eps):  # noqa: ARG001
    return x / ops.norm(x, ord=2, dim=dim, keepdim=True).clamp(min=eps)


@mistake("normalize", "ops.norm", "the norm is detached")
def normalize_by_a_detached_norm(x, p, dim, eps):
    size = ops.norm(x, ord=p, dim=dim, keepdim=True).clamp(min=eps)
    return x / ops.stop_gradient(size)


@mistake("pairwise_distance", "ops.norm", "the epsilon is left out")
def pairwise_distance_without_eps(x, y, p, eps, keepdim):  # noqa: ARG001
    return ops.norm(x - y, ord=p, dim=-1, keepdim=keepdim)


@mistake("cov", "ops.cov", "divided by n always")
def cov_divided_by_n(x, correction):  # noqa: ARG001
    return ops.cov(x, correction=0)
