import type { Shape } from '#renderer/bridge/stateWords.ts'
import { bytes, count, speed } from '#shared/format/size.ts'
import { duration } from '#shared/format/time.ts'
import { type FileStep, type FileTransferView, secondsLeft } from '#shared/instance/files.ts'

const steps: Record<FileStep, { word: string; shape: Shape }> = {
  preparing: { word: 'Preparing', shape: 'busy' },
  running: { word: 'Running', shape: 'busy' },
  waiting: { word: 'Reconnecting', shape: 'busy' },
  paused: { word: 'Paused', shape: 'stopped' },
  done: { word: 'Done', shape: 'running' },
  failed: { word: 'Failed', shape: 'needs-you' },
  cancelled: { word: 'Cancelled', shape: 'stopped' },
}

export function fileStepWords(step: FileStep): { word: string; shape: Shape } {
  return steps[step]
}

/** The files that a folder's transfer leaves out, for each direction. */
const reasons: Record<FileTransferView['direction'], string> = {
  up: 'links out of the folder, files that can’t be sent, and secrets that you didn’t choose',
  down: 'links to folders or to nothing, things that aren’t files, and names that can’t be written here',
}

/** Whole percent, rounded down so that only a complete transfer shows 100. */
export function percentDone({ done, total, step }: FileTransferView): number {
  if (step === 'done') return 100
  return total === 0 ? 0 : Math.min(99, Math.floor((done / total) * 100))
}

/** "12 MB of 64 MB, 3 of 10 files, 14 MB/s, 4 s left". */
export function progressWords(transfer: FileTransferView): string {
  const { total, done, files, filesDone, step, leftOut, direction } = transfer
  if (step === 'preparing' && total === 0) return 'listing files'
  const left = secondsLeft(transfer)
  // The size is unknown if an earlier Berth started it.
  const isKnown = total > 0 || step === 'done'
  return [
    isKnown && (done < total ? `${bytes(done)} of ${bytes(total)}` : bytes(total)),
    files > 1 && `${count(filesDone)} of ${count(files)} files`,
    step === 'running' && transfer.speed !== undefined && speed(transfer.speed),
    left !== undefined && `${duration(Math.ceil(left))} left`,
    leftOut > 0 && `${count(leftOut)} left out (${reasons[direction]})`,
  ]
    .filter(Boolean)
    .join(', ')
}
