import { harmless } from '#contract/instance/file-names.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import { canGetIn } from '#contract/reading.ts'
import type { AccountContext } from '#core/account-context.ts'
import { outputOf } from '#ssh/exec.ts'
import type { Job } from '../model.ts'
import { missingCommand } from './decide.ts'
import { homeQuestion, remoteFolder } from './scripts.ts'

/** Short commands on a job's machine. */
export interface OnMachine {
  /** The job's machine. Throws `not_running` where it accepts no connection. */
  machineOf(job: Job): InstanceView
  /** A command's output. Throws `not_running`, and `not_prepared` or `disk_full` where the command fails. */
  inside(job: Job, command: string, input?: string): Promise<string>
  /** The project's folder on the machine. Throws the same. */
  remoteOf(job: Job): Promise<string>
}

export function onMachine({ account, store, access, client, machine }: AccountContext): OnMachine {
  function machineOf({ instance }: Job): InstanceView {
    const view = store.get().accounts[account]?.instances[instance ?? -1]
    if (!view || !canGetIn(view)) throw new BerthError(notRunning)
    return view
  }

  async function inside(job: Job, command: string, input?: string): Promise<string> {
    const lease = await access.connect({ account, instance: machineOf(job), client: client() })
    try {
      const bounds = { clock: machine.clock, within: 30_000, most: 4096, input }
      const { text, code } = await outputOf(lease.connection, command, bounds)
      if (code !== 0) throw new BerthError(notPrepared(text, code))
      return text.trim()
    } finally {
      lease.release()
    }
  }

  async function remoteOf(job: Job): Promise<string> {
    const home = await inside(job, homeQuestion)
    if (!home.startsWith('/')) throw new BerthError(notPrepared('its shell names no home folder', 0))
    return `${home.replace(/\/$/, '')}/${remoteFolder(job.project)}`
  }

  return { machineOf, inside, remoteOf }
}

const notRunning = { code: 'not_running', message: 'Its machine cannot be entered now.' }
/** `said` is the machine's output, whose last line has the reason. */
function notPrepared(said: string, code: number | undefined): Problem {
  const line = said.trim().split('\n').at(-1)?.replace(/\.$/, '').slice(0, 300) ?? ''
  const unsaid = code === undefined ? 'the connection ended' : `its shell ended with exit code ${code}`
  const isFull = /no space left|quota/i.test(line)
  const missing = code === 126 || code === 127 ? missingCommand(line) : undefined
  return {
    code: isFull ? 'disk_full' : 'not_prepared',
    message:
      missing === undefined
        ? `The folder could not be prepared on its machine: ${harmless(line) || unsaid}.`
        : `The folder could not be prepared on its machine: ${missing} is missing there.`,
    advice: isFull
      ? 'Make room there, then go on from here.'
      : missing === undefined
        ? 'Open a terminal on it to find out more.'
        : 'Install it there or use another image, then go on from here.',
  }
}
