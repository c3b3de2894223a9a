/** The first moment from `from` to `until` (world milliseconds) without credit, which never rises meanwhile. */
export function outOfCreditAt(
  creditAt: (at: number) => number,
  from: number,
  until: number,
): number | undefined {
  if (creditAt(until) > 0) return undefined
  let [low, high] = [from, until]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (creditAt(middle) > 0) low = middle + 1
    else high = middle
  }
  return low
}
