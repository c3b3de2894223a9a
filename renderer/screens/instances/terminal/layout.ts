/** How the panes of a tab share its area: a single pane, or two halves, each of which is a layout again. */
export type Layout<Pane> =
  | { kind: 'pane'; pane: Pane }
  | { kind: 'split'; way: 'right' | 'down'; share: number; first: Layout<Pane>; second: Layout<Pane> }

/** Shares of the tab's area, from 0 to 1. */
export interface PaneBox {
  x: number
  y: number
  width: number
  height: number
}

/** The divider between two halves: its place, and the area that it divides. */
export interface Divider<Pane> {
  way: 'right' | 'down'
  at: PaneBox
  within: PaneBox
  share: number
  /** The panes of its first half, which identify the divider. */
  split: Layout<Pane>
}

const least = 0.15

/** Splits a pane's area, with a new pane to its right or below it. */
export function splitPanes<Pane>(
  layout: Layout<Pane>,
  pane: Pane,
  way: 'right' | 'down',
  fresh: Pane,
): Layout<Pane> {
  if (layout.kind === 'split') {
    const { first, second } = layout
    return {
      ...layout,
      first: splitPanes(first, pane, way, fresh),
      second: splitPanes(second, pane, way, fresh),
    }
  }
  if (layout.pane !== pane) return layout
  return { kind: 'split', way, share: 0.5, first: layout, second: { kind: 'pane', pane: fresh } }
}

/** Removes a pane, whose area goes to its neighbour; undefined where it was the last one. */
export function withoutPane<Pane>(layout: Layout<Pane>, pane: Pane): Layout<Pane> | undefined {
  if (layout.kind === 'pane') return layout.pane === pane ? undefined : layout
  const first = withoutPane(layout.first, pane)
  const second = withoutPane(layout.second, pane)
  if (first === undefined) return second
  if (second === undefined) return first
  return first === layout.first && second === layout.second ? layout : { ...layout, first, second }
}

export function panesOf<Pane>(layout: Layout<Pane>): Pane[] {
  return layout.kind === 'pane' ? [layout.pane] : [...panesOf(layout.first), ...panesOf(layout.second)]
}

/** Moves a divider to another share of its area. */
export function movedPane<Pane>(layout: Layout<Pane>, target: Layout<Pane>, share: number): Layout<Pane> {
  if (layout.kind === 'pane') return layout
  if (layout === target) return { ...layout, share: Math.max(least, Math.min(1 - least, share)) }
  return {
    ...layout,
    first: movedPane(layout.first, target, share),
    second: movedPane(layout.second, target, share),
  }
}

/** The places of all panes and dividers. */
export function placesOf<Pane>(
  layout: Layout<Pane>,
  within: PaneBox = { x: 0, y: 0, width: 1, height: 1 },
): { panes: { pane: Pane; box: PaneBox }[]; dividers: Divider<Pane>[] } {
  if (layout.kind === 'pane') return { panes: [{ pane: layout.pane, box: within }], dividers: [] }
  const { way, share, first, second } = layout
  const { x, y, width, height } = within
  const right = way === 'right'
  const one = right ? { ...within, width: width * share } : { ...within, height: height * share }
  const other = right
    ? { x: x + width * share, y, width: width * (1 - share), height }
    : { x, y: y + height * share, width, height: height * (1 - share) }
  const at = right ? { ...other, width: 0 } : { ...other, height: 0 }
  const [before, after] = [placesOf(first, one), placesOf(second, other)]
  return {
    panes: [...before.panes, ...after.panes],
    dividers: [{ way, at, within, share, split: layout }, ...before.dividers, ...after.dividers],
  }
}
