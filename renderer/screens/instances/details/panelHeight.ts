const kept = 'berth-panel-height'

/** Pixels that the panel of details had last; 232 at first. */
export function lastPanelHeight(): number {
  const height = Number(localStorage.getItem(kept))
  return Number.isFinite(height) && height >= 120 ? height : 232
}

export function keepPanelHeight(height: number): void {
  localStorage.setItem(kept, String(Math.round(height)))
}
