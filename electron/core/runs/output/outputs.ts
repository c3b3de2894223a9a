import type { Files } from '#ports/files.ts'
import type { StoredRuns } from '../stored-runs.ts'
import { deleteOutput, everyPart, openOutput, outputBounds, type RunOutput } from './output.ts'
import { toLose } from './room.ts'

/** The stored outputs of all runs of an account, which share one limit on disk. */
export interface RunOutputs {
  of(id: string): Promise<RunOutput>
  /** Deletes the output of a run, or of all of them. Never rejects. */
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
    const open = outputs.get(id) ?? openOutput(files, folder, id, outputBounds, makeRoom)
    outputs.set(id, open)
    return open
  }

  /** One at a time, so that each counts what the previous one left. Failed deletions are repeated next time. */
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
