// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/plan_picture.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include <weir/cli/parallel_plan_text.hpp>
#include <weir/cli/plan_text.hpp>

namespace weir::cli {

namespace {

using simulation::PlanSimulation;
using training::Pass;
using training::PlacedPlan;
using training::Tick;

constexpr double page_width = 1200;
constexpr double margin = 24;
constexpr double label_width = 64;  ///< Of the names of ranks.
constexpr double text_height = 16;
/// Up to so many ticks and nodes each tells what it is when pointed at.
constexpr std::size_t most_titled_ticks = 8000;
constexpr std::size_t most_titled_nodes = 512;
constexpr std::size_t most_drawn_nodes = 2048;

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

/// A length in pixels; `12.5`, `3`.
std::string px(double value) {
  std::string text = fixed(value, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

/// `#rrggbb` of hue in degrees, saturation and lightness from 0 to 1.
std::string color(double hue, double saturation, double lightness) {
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue / 30, 12);
    const double amplitude = saturation * std::min(lightness, 1 - lightness);
    const double value = lightness - amplitude * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<unsigned>(std::lround(255 * value));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", channel(0), channel(8), channel(4));
  return text;
}

struct PassStyle {
  Pass pass;
  const char* name;
  double hue;
  double saturation;
};
// Blue, orange, green: told apart by most who do not see all colours, and by lightness.
constexpr std::array pass_styles = {
    PassStyle{Pass::forward, "forward", 212, 0.75},
    PassStyle{Pass::backward, "backward", 28, 0.9},
    PassStyle{Pass::backward_input, "backward, gradients of inputs", 28, 0.9},
    PassStyle{Pass::backward_weight, "backward, gradients of weights", 150, 0.4},
};

/// A hue for the pass, a shade for the micro-batch, darker for each further chunk.
double lightness_of(const Tick& tick) {
  return 0.82 - 0.06 * (tick.micro_batch % 4) - (tick.chunk % 2 == 0 ? 0 : 0.32);
}

std::string color_of(const Tick& tick) {
  const PassStyle& style = pass_styles[static_cast<std::size_t>(tick.pass)];
  return color(style.hue, style.saturation, lightness_of(tick));
}

/// Neighbouring stages differ in hue and in lightness.
std::string color_of_stage(std::size_t stage, std::size_t num_stages) {
  const double hue = 360.0 * static_cast<double>(stage) / static_cast<double>(num_stages);
  return color(hue, 0.6, stage % 2 == 0 ? 0.78 : 0.64);
}

/// SVG elements, one below the other.
class Drawing {
 public:
  double y = margin;

  void text(double x, double at, std::string_view words, std::string_view attributes = {}) {
    body_ += "<text x=\"" + px(x) + "\" y=\"" + px(at) + '"' + spaced(attributes) + '>' +
             escaped(words) + "</text>\n";
  }
  void rect(double x, double at, double width, double height, std::string_view fill,
            std::string_view title = {}, std::string_view attributes = {}) {
    body_ += "<rect x=\"" + px(x) + "\" y=\"" + px(at) + "\" width=\"" + px(width) +
             "\" height=\"" + px(height) + "\" fill=\"" + std::string(fill) + '"' +
             spaced(attributes);
    body_ += title.empty() ? "/>\n" : "><title>" + escaped(title) + "</title></rect>\n";
  }
  void line(double x1, double y1, double x2, double y2) {
    body_ += "<path d=\"M" + px(x1) + ' ' + px(y1) + 'L' + px(x2) + ' ' + px(y2) +
             "\" stroke=\"#999\" fill=\"none\"/>\n";
  }
  /// Many rectangles of one colour, `M x y h width v height h -width z` each.
  void path(const std::string& outline, std::string_view fill) {
    body_ += "<path d=\"" + outline + "\" fill=\"" + std::string(fill) + "\"/>\n";
  }
  void open(std::string_view id, std::string_view label) {
    body_ +=
        "<g id=\"" + std::string(id) + "\" role=\"group\" aria-label=\"" + escaped(label) + "\">\n";
  }
  void close() { body_ += "</g>\n"; }
  void heading(std::string_view words) {
    y += 12;
    text(margin, y + text_height, words, "class=\"heading\"");
    y += 2 * text_height;
  }
  const std::string& body() const { return body_; }

 private:
  static std::string spaced(std::string_view attributes) {
    return attributes.empty() ? std::string() : ' ' + std::string(attributes);
  }

  std::string body_;
};

std::string outline_of(double x, double y, double width, double height) {
  return 'M' + px(x) + ' ' + px(y) + 'h' + px(width) + 'v' + px(height) + 'h' + px(-width) + 'z';
}

/// 1, 2 or 5 times a power of ten: the least that makes at most ten steps.
double axis_step(double range) {
  const double least = range / 10;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

class Picture {
 public:
  Picture(const PlacedPlan& plan, const PlanSimulation& simulated)
      : plan_(plan), simulated_(simulated), num_ranks_(plan.schedule.num_ranks()) {}

  std::string svg();
  std::string headline() const {
    return plan_.model.name + " on " + plan_.cluster.name() + ", " +
           std::to_string(plan_.layout().num_devices()) + " devices";
  }
  std::string description() const;

 private:
  double part(std::string_view name) const {
    for (const training::NamedPart& each : simulated_.parts) {
      if (each.name == name) return each.value;
    }
    return 0;
  }
  bool uses(Pass pass) const {
    return std::any_of(plan_.schedule.ticks.front().begin(), plan_.schedule.ticks.front().end(),
                       [&](const Tick& tick) { return tick.pass == pass; });
  }

  void draw_schedule();
  void draw_rank(std::size_t rank, double top, double height, double scale, bool has_titles);
  void draw_axis(double scale);
  void draw_pass_legend();
  void draw_placement();
  void draw_node(std::size_t first, std::size_t size, double x, double top, double cell,
                 bool has_titles);
  void draw_stage_legend();

  const PlacedPlan& plan_;
  const PlanSimulation& simulated_;
  std::size_t num_ranks_;
  Drawing drawing_;
  std::vector<std::size_t> rank_on_;             ///< Of a device; none: its number of ranks.
  std::map<std::string, std::string> outlines_;  ///< Of what has no title, by colour.
};

std::string Picture::description() const {
  std::size_t num_ticks = 0;
  for (const auto& ticks : plan_.schedule.ticks) num_ticks += ticks.size();
  return "Above, what each of " + std::to_string(num_ranks_) +
         " pipeline ranks does in an iteration of " + fixed(simulated_.seconds, 4) +
         " seconds: " + std::to_string(num_ticks) + " passes of " +
         std::to_string(plan_.schedule.num_micro_batches) + " micro-batches by the schedule " +
         std::string(name_of(plan_.layout().schedule)) + ", of which ranks wait " +
         fixed(100 * part("bubble") / simulated_.seconds, 1) +
         " %. Below, the devices of the cluster, coloured by the pipeline rank that they hold.";
}

void Picture::draw_rank(std::size_t rank, double top, double height, double scale,
                        bool has_titles) {
  const double left = margin + label_width;
  const auto& ticks = plan_.schedule.ticks[rank];
  constexpr double narrowest_label = 15;
  std::string labels;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const training::Interval& at = simulated_.timeline[rank][i];
    const double x = left + scale * at.start;
    const double width = scale * (at.end - at.start);
    if (!has_titles) {
      outlines_[color_of(ticks[i])] += outline_of(x, top, width, height);
      continue;
    }
    const std::string chunk =
        plan_.schedule.num_chunks > 1 ? " of chunk " + std::to_string(ticks[i].chunk) : "";
    drawing_.rect(x, top, width, height, color_of(ticks[i]),
                  "rank " + std::to_string(rank) + ": " + std::string(name_of(ticks[i].pass)) +
                      " of micro-batch " + std::to_string(ticks[i].micro_batch) + chunk + ", " +
                      fixed(1000 * at.start, 2) + " to " + fixed(1000 * at.end, 2) + " ms",
                  "stroke=\"#fff\" stroke-width=\"0.5\"");
    const std::string number = std::to_string(ticks[i].micro_batch);
    if (width < narrowest_label + 6 * static_cast<double>(number.size() - 1) || height < 12)
      continue;
    drawing_.text(x + width / 2, top + height / 2 + 4, number,
                  ticks[i].chunk % 2 == 0 ? "class=\"tick\"" : "class=\"tick dark\"");
  }
}

void Picture::draw_axis(double scale) {
  const double left = margin + label_width;
  const bool is_long = simulated_.seconds >= 1;
  const double unit = is_long ? 1 : 1000;
  const double step = axis_step(simulated_.seconds);
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step * unit) + 1e-9)));
  drawing_.line(left, drawing_.y, left + scale * simulated_.seconds, drawing_.y);
  for (int i = 0; i * step <= simulated_.seconds * (1 + 1e-9); ++i) {
    const double x = left + scale * i * step;
    drawing_.line(x, drawing_.y, x, drawing_.y + 5);
    drawing_.text(x, drawing_.y + 18, fixed(i * step * unit, digits), "class=\"axis\"");
  }
  drawing_.text(margin, drawing_.y + 18, is_long ? "time in s" : "time in ms");
  drawing_.y += 34;
}

void Picture::draw_pass_legend() {
  double x = margin + label_width;
  const auto add = [&](std::string_view fill, std::string_view words) {
    drawing_.rect(x, drawing_.y, 14, 14, fill, {}, "stroke=\"#999\" stroke-width=\"0.5\"");
    drawing_.text(x + 20, drawing_.y + 12, words);
    x += 36 + 6.6 * static_cast<double>(words.size());
  };
  for (const PassStyle& style : pass_styles) {
    if (uses(style.pass)) add(color(style.hue, style.saturation, 0.7), style.name);
  }
  add("#f1f1f1", "waiting and sending");
  if (part("data") > 0) add("#b9a3d0", "exchange of gradients");
  add("#8d8d8d", "optimizer");
  drawing_.y += 22;
  std::string shades = "shades repeat every fourth micro-batch; numbers are micro-batches";
  if (plan_.schedule.num_chunks > 1) shades += "; dark: every second chunk of a rank";
  drawing_.text(margin + label_width, drawing_.y + 12, shades);
  drawing_.y += 22;
}

void Picture::draw_schedule() {
  drawing_.heading("Schedule of one pipeline: " + std::string(name_of(plan_.layout().schedule)) +
                   ", " + std::to_string(plan_.schedule.num_micro_batches) + " micro-batches, " +
                   std::to_string(num_ranks_) + " ranks");
  drawing_.open("schedule", "schedule, ranks by time");
  const double height = num_ranks_ <= 16 ? 26 : num_ranks_ <= 48 ? 15 : 7;
  const double width = page_width - 2 * margin - label_width;
  const double scale = width / simulated_.seconds;
  std::size_t num_ticks = 0;
  for (const auto& ticks : plan_.schedule.ticks) num_ticks += ticks.size();
  const bool has_titles = num_ticks <= most_titled_ticks;
  const double top = drawing_.y;
  const double left = margin + label_width;
  const double total_height = static_cast<double>(num_ranks_) * (height + 2);
  drawing_.rect(left, top, width, total_height, "#f1f1f1");
  const double optimizer = scale * part("optimizer");
  const double data = scale * part("data");
  drawing_.rect(left + width - optimizer - data, top, data, total_height, "#b9a3d0",
                "exchange of gradients, " + fixed(1000 * part("data"), 2) + " ms");
  drawing_.rect(left + width - optimizer, top, optimizer, total_height, "#8d8d8d",
                "optimizer, " + fixed(1000 * part("optimizer"), 2) + " ms");
  for (std::size_t rank = 0; rank < num_ranks_; ++rank) {
    const double at = top + static_cast<double>(rank) * (height + 2);
    if (height >= 12 || rank % 8 == 0) {
      drawing_.text(margin, at + height / 2 + 4, "rank " + std::to_string(rank));
    }
    draw_rank(rank, at, height, scale, has_titles);
  }
  for (const auto& [fill, outline] : outlines_) drawing_.path(outline, fill);
  outlines_.clear();
  drawing_.y = top + total_height + 4;
  draw_axis(scale);
  draw_pass_legend();
  drawing_.close();
}

/// Devices of a node, eight side by side.
void Picture::draw_node(std::size_t first, std::size_t size, double x, double top, double cell,
                        bool has_titles) {
  const std::size_t num_columns = std::min<std::size_t>(size, 8);
  const std::size_t num_rows = (size + num_columns - 1) / num_columns;
  const double width = static_cast<double>(num_columns) * cell;
  const double height = static_cast<double>(num_rows) * cell;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t rank = rank_on_[first + i];
    const double at_x = x + static_cast<double>(i % num_columns) * cell;
    const double at_y = top + static_cast<double>(i / num_columns) * cell;
    const bool is_used = rank < plan_.device_of_rank.size();
    const std::size_t stage = is_used ? coordinates_of(plan_.layout(), rank).pipeline : 0;
    const std::string fill = is_used ? color_of_stage(stage, num_ranks_) : "#ffffff";
    if (!has_titles) {
      outlines_[fill] += outline_of(at_x, at_y, cell, cell);
      continue;
    }
    std::string title = "device " + std::to_string(first + i) + ": idle";
    if (is_used) {
      const training::RankCoordinates at = coordinates_of(plan_.layout(), rank);
      title = "device " + std::to_string(first + i) + ": rank " + std::to_string(rank) +
              ", pipeline rank " + std::to_string(at.pipeline) + ", data " +
              std::to_string(at.data) + ", context " + std::to_string(at.context) + ", tensor " +
              std::to_string(at.tensor);
    }
    drawing_.rect(at_x, at_y, cell, cell, fill, title, "stroke=\"#fff\" stroke-width=\"0.5\"");
    if (is_used && cell >= 14) {
      drawing_.text(at_x + cell / 2, at_y + cell / 2 + 4, std::to_string(stage), "class=\"tick\"");
    }
  }
  if (has_titles) {
    drawing_.rect(x, top, width, height, "none", {}, "stroke=\"#444\"");
  }
}

void Picture::draw_stage_legend() {
  constexpr double step = 46;
  double x = margin;
  for (std::size_t stage = 0; stage < num_ranks_; ++stage) {
    if (x + step > page_width - margin) {
      x = margin;
      drawing_.y += 20;
    }
    drawing_.rect(x, drawing_.y, 14, 14, color_of_stage(stage, num_ranks_));
    drawing_.text(x + 18, drawing_.y + 12, std::to_string(stage));
    x += step;
  }
  drawing_.y += 26;
}

void Picture::draw_placement() {
  const schedule::Topology& cluster = plan_.cluster;
  const auto& levels = cluster.levels();
  const auto& nodes = levels.back().group_of_device;
  drawing_.heading("Placement on " + cluster.name());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    drawing_.text(margin + 12 * static_cast<double>(l), drawing_.y,
                  levels[l].name + ": " + std::to_string(cluster.num_groups(l)) + ", " +
                      fixed(levels[l].link.bandwidth / 1e9, 1) + " GB/s per device inside");
    drawing_.y += text_height;
  }
  if (!plan_.placements.empty()) {
    drawing_.text(margin, drawing_.y, "ranks: " + describe(plan_.placements));
    drawing_.y += text_height;
  }
  drawing_.open("placement", "cluster, devices coloured by pipeline rank");
  drawing_.y += 6;
  drawing_.text(margin, drawing_.y, "colours of pipeline ranks");
  drawing_.y += 8;
  draw_stage_legend();

  rank_on_.assign(cluster.num_devices(), plan_.device_of_rank.size());
  for (std::size_t r = 0; r < plan_.device_of_rank.size(); ++r) {
    rank_on_[plan_.device_of_rank[r]] = r;
  }
  const std::size_t num_nodes = cluster.num_groups(levels.size() - 1);
  const bool has_titles = num_nodes <= most_titled_nodes;
  const double cell = num_nodes <= 64 ? 16 : num_nodes <= most_titled_nodes ? 9 : 4;
  const double gap = cell / 2;
  // Rows of a multiple of 8 nodes, so that what repeats lies below itself.
  const double node_width = 8 * cell + gap;
  const auto fitting = static_cast<std::size_t>((page_width - 2 * margin + gap) / node_width);
  const std::size_t most_in_row = fitting < 8 ? fitting : fitting / 8 * 8;
  double x = margin;
  double row_height = 0;
  std::size_t num_in_row = 0;
  std::size_t first = 0;
  for (std::size_t node = 0; node < std::min(num_nodes, most_drawn_nodes); ++node) {
    std::size_t end = first;
    while (end < nodes.size() && nodes[end] == node) ++end;
    // A group of the levels between cluster and nodes begins: what it is, then its nodes.
    for (std::size_t l = 1; l + 1 < levels.size(); ++l) {
      const auto& group = levels[l].group_of_device;
      if (first > 0 && group[first] == group[first - 1]) continue;
      drawing_.y += row_height;
      row_height = 0;
      num_in_row = 0;
      x = margin;
      drawing_.text(margin + 12 * static_cast<double>(l - 1), drawing_.y + 12,
                    levels[l].name + ' ' + std::to_string(group[first]));
      drawing_.y += 18;
    }
    const std::size_t size = end - first;
    const std::size_t num_rows = (size + 7) / 8;
    const double caption = cell >= 16 ? 14 : 0;
    if (num_in_row == most_in_row) {
      x = margin;
      drawing_.y += row_height;
      row_height = 0;
      num_in_row = 0;
    }
    if (caption > 0) {
      drawing_.text(x, drawing_.y + 10, levels.back().name + ' ' + std::to_string(node));
    }
    draw_node(first, size, x, drawing_.y + caption, cell, has_titles);
    row_height = std::max(row_height, caption + static_cast<double>(num_rows) * cell + gap);
    x += node_width;
    ++num_in_row;
    first = end;
  }
  for (const auto& [fill, outline] : outlines_) drawing_.path(outline, fill);
  drawing_.y += row_height;
  if (num_nodes > most_drawn_nodes) {
    drawing_.text(margin, drawing_.y + 12,
                  "the first " + std::to_string(most_drawn_nodes) + " of " +
                      std::to_string(num_nodes) + " nodes");
    drawing_.y += 18;
  }
  drawing_.close();
}

std::string Picture::svg() {
  drawing_.text(margin, drawing_.y + 8, headline(), "class=\"title\"");
  drawing_.y += 24;
  drawing_.text(margin, drawing_.y + 8, describe(plan_.layout()));
  drawing_.y += 18;
  drawing_.text(margin, drawing_.y + 8,
                fixed(simulated_.seconds, 4) + " s per iteration of " +
                    std::to_string(plan_.layout().global_batch) + " samples, simulated; " +
                    fixed(plan_.plan.memory.total_bytes() / 1e9, 2) +
                    " GB on a device of the first stage");
  drawing_.y += 14;
  draw_schedule();
  draw_placement();
  const double height = drawing_.y + margin;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(page_width) + "\" height=\"" +
         px(height) + "\" viewBox=\"0 0 " + px(page_width) + ' ' + px(height) +
         "\" role=\"img\" aria-labelledby=\"plan-title plan-description\">\n"
         "<title id=\"plan-title\">" +
         escaped(headline()) + "</title>\n<desc id=\"plan-description\">" + escaped(description()) +
         "</desc>\n<style>text{font:12px sans-serif;fill:#222}"
         ".title{font-size:20px;font-weight:bold}.heading{font-size:14px;font-weight:bold}"
         ".tick{font-size:11px;text-anchor:middle;pointer-events:none}.dark{fill:#fff}"
         ".axis{text-anchor:middle}</style>\n"
         "<rect width=\"" +
         px(page_width) + "\" height=\"" + px(height) + "\" fill=\"#fff\"/>\n" + drawing_.body() +
         "</svg>\n";
}

}  // namespace

std::string svg_of(const PlacedPlan& plan, const PlanSimulation& simulated) {
  return Picture(plan, simulated).svg();
}

std::string html_of(const PlacedPlan& plan, const PlanSimulation& simulated) {
  Picture picture(plan, simulated);
  std::string table;
  for (const training::NamedPart& part : simulated.parts) {
    if (part.value == 0) continue;
    table += "<tr><th scope=\"row\">" + escaped(part.name) + "</th><td>" + fixed(part.value, 4) +
             "</td><td>" + fixed(100 * part.value / simulated.seconds, 2) + "</td></tr>\n";
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
         escaped(picture.headline()) +
         "</title>\n<style>body{margin:0 auto;max-width:1200px;font:14px sans-serif;color:#222;"
         "background:#fff}svg{max-width:100%;height:auto}table{margin:24px;border-collapse:"
         "collapse}"
         "caption{text-align:left;font-weight:bold;padding-bottom:6px}"
         "th,td{padding:2px 12px;border-bottom:1px solid #ddd}th{text-align:left}"
         "td{text-align:right}</style>\n</head>\n<body>\n<main>\n" +
         picture.svg() +
         "<table>\n<caption>Seconds of an iteration by cause</caption>\n"
         "<tr><th scope=\"col\">part</th><th scope=\"col\">seconds</th>"
         "<th scope=\"col\">share in %</th></tr>\n" +
         table + "<tr><th scope=\"row\">total</th><td>" + fixed(simulated.seconds, 4) +
         "</td><td>100.00</td></tr>\n</table>\n</main>\n</body>\n</html>\n";
}

}  // namespace weir::cli
