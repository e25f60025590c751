#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# compare_digests.sh WEIR_A WEIR_B
#
# Runs every algorithm on a generated graph with two builds of the command, one rank with one and four with
# the other, and compares the digests of the results. Ends with `N passed, N failed`.
set -uo pipefail

graph="rmat:scale=11,edge_factor=8,seed=7,weights=255"
algorithms=(pagerank weighted_pagerank bfs sssp wcc cdlp lcc triangles kcore scc betweenness clustering)
passed=0
failed=0
for algorithm in "${algorithms[@]}"; do
  options=(--digest --quiet)
  name=${algorithm#weighted_}
  case "$algorithm" in
    bfs) options+=(--source 1) ;;
    sssp) options+=(--source 1 --weighted) ;;
    weighted_pagerank) options+=(--weighted) ;;
    betweenness) options+=(--source 1,2,3) ;;
    clustering) options+=(--undirected --iterations 2) ;;
  esac
  one=$("$1" run "$name" "$graph" "${options[@]}" --ranks 1)
  two=$("$2" run "$name" "$graph" "${options[@]}" --ranks 4)
  if [ -n "$one" ] && [ "$one" = "$two" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: %s with %s; %s with %s\n' "$algorithm" "${one:-no digest}" "$1" "${two:-no digest}" "$2"
  fi
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
