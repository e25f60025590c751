// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weir::io {

/// e^x, log x (x > 0, normal) and the quantile function of the standard normal distribution
/// [Wichura88, AS 241], from + - * / and sqrt alone: the same bits on every machine, which the C
/// library does not promise. Within a few units in the last place.
double portable_exp(double x);
double portable_log(double x);
double normal_quantile(double p);

}  // namespace weir::io
