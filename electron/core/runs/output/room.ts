import { isGoing, type RunView } from '#contract/automation/run.ts'
import { outputBounds, type RunPart } from './output.ts'

/** The most bytes of output stored for all runs of an account together. */
const mostOfAll = 200 * 1024 * 1024

type RunOnDisk = Pick<RunView, 'id' | 'step' | 'createdAt' | 'endedAt'>

/**
 * Up to which byte runs lose their output to make room for another file. First goes the output without a run; then that
 * of ended runs, the oldest end first, except their newest files; then these; then that of unfinished runs, which never
 * lose their newest files.
 */
export function toLose(
  parts: readonly RunPart[],
  runs: readonly RunOnDisk[],
  { all, file } = { all: mostOfAll, file: outputBounds.bytes },
): ReadonlyMap<string, number> {
  const known = new Set(runs.map(({ id }) => id))
  const ended = runs.filter(run => !isGoing(run)).sort((a, b) => endOf(a) - endOf(b))
  const going = runs.filter(isGoing).sort((a, b) => a.createdAt - b.createdAt)
  const goesOn = new Set(going.map(({ id }) => id))
  const newest = new Map(parts.map(part => [part.run, part]))
  const isNewest = (part: RunPart) => newest.get(part.run) === part
  const of = (some: readonly RunOnDisk[]) => some.flatMap(({ id }) => parts.filter(({ run }) => run === id))
  const order = [
    ...parts.filter(({ run }) => !known.has(run)),
    ...of(ended).filter(part => !isNewest(part)),
    ...of(ended).filter(isNewest),
    ...of(going).filter(part => !isNewest(part)),
  ]

  // The newest file of an unfinished run may still grow to a full one.
  const sizeOf = (part: RunPart) =>
    goesOn.has(part.run) && isNewest(part) ? Math.max(part.size, file) : part.size
  let surplus = parts.reduce((sum, part) => sum + sizeOf(part), file) - all
  const lost = new Map<string, number>()
  for (const part of order) {
    if (surplus <= 0) break
    lost.set(part.run, part.at + part.size)
    surplus -= part.size
  }
  return lost
}

function endOf({ endedAt, createdAt }: RunOnDisk): number {
  return endedAt ?? createdAt
}
