const kept = 'berth-panel-height'

/** Pixels that the panel of details had last; at first, room for a screenful of a shell. */
export function lastPanelHeight(): number {
  const height = Number(localStorage.getItem(kept))
  return Number.isFinite(height) && height >= 120
    ? height
    : Math.max(232, Math.round(window.innerHeight * 0.55))
}

export function keepPanelHeight(height: number): void {
  localStorage.setItem(kept, String(Math.round(height)))
}
