/** The ports to try in turn: the one asked for alone, else the one used last (so that few are ever used), else any. */
export function portsToTry(asked: number, used: readonly number[]): number[] {
  if (asked !== 0) return [asked]
  return [...used.slice(0, 1), 0]
}
