import type { Files } from '../../../ports/files.ts'
import type { StoredRuns } from '../stored-runs.ts'
import { bounds, deleteOutput, everyPart, openOutput, type RunOutput } from './output.ts'
import { toLose } from './room.ts'

/** The outputs of all runs of an account, which share its room on the disk. */
export interface RunOutputs {
  of(id: string): Promise<RunOutput>
  /** Leaves nothing of that of a run; without one, of any. Never rejects. */
  delete(id?: string): Promise<void>
}

export function createOutputs(
  files: Files,
  folder: string,
  runs: Pick<StoredRuns, 'all' | 'note'>,
): RunOutputs {
  const outputs = new Map<string, Promise<RunOutput>>()
  let making: Promise<void> = Promise.resolve()

  function of(id: string): Promise<RunOutput> {
    const open = outputs.get(id) ?? openOutput(files, folder, id, bounds, makeRoom)
    outputs.set(id, open)
    return open
  }

  /** One after another, so that each counts what the one before it has left. What cannot be deleted is, next time. */
  function makeRoom(): Promise<void> {
    making = making.then(clear).catch(() => undefined)
    return making
  }

  async function clear(): Promise<void> {
    for (const [id, to] of toLose(await everyPart(files, folder), runs.all())) {
      const output = await of(id)
      await output.lose(to)
      runs.note(id, { dropped: to })
    }
  }

  return {
    of,
    async delete(id) {
      if (id === undefined) outputs.clear()
      else outputs.delete(id)
      await deleteOutput(files, folder, id).catch(() => undefined)
    },
  }
}
