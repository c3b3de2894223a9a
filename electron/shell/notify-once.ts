import type { RunningBerth } from '../core/running.ts'
import type { Files, Notice } from '../machine/machine.ts'

/** Shows a notice about this desktop once, and never again. */
export async function notifyOnce(
  berth: Pick<RunningBerth, 'say'>,
  files: Files,
  notice: Pick<Notice, 'id' | 'title' | 'body'>,
): Promise<void> {
  const file = `told-${notice.id}`
  if ((await files.read(file)) !== undefined) return
  await files.write(file, '')
  berth.say({ ...notice, urgency: 'normal', actions: [] })
}
