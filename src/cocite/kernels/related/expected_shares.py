"""The expected share of each link of a page, when every link exists with a probability of its own."""

from __future__ import annotations

from cocite.kernels.jit import kernel


@kernel
def expected_shares(starts, probabilities, outside, points, weights, out):
    """out[k] = p_k · Σ weight · Π (1 - p + p·t) over the other links of the page, for the points t, all below 1.

    Page b has outside[b] further links of the mean probability.
    """
    for b in range(len(starts) - 1):
        first, last = starts[b], starts[b + 1]
        if first == last:
            continue
        mean = 0.0
        for k in range(first, last):
            mean += probabilities[k]
            out[k] = 0.0
        mean /= last - first
        for i in range(len(points)):
            t = points[i]
            product = weights[i] * (1.0 - mean + mean * t) ** outside[b]
            for k in range(first, last):
                product *= 1.0 - probabilities[k] + probabilities[k] * t
            for k in range(first, last):
                out[k] += product / (1.0 - probabilities[k] + probabilities[k] * t)
        for k in range(first, last):
            out[k] *= probabilities[k]
