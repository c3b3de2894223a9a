import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { outputOf } from '#ssh/exec.ts'
import { type HandedOver, type Handing, handOver as handOverFiles } from '#ssh/runs/hand-over.ts'
import { quote } from '#ssh/ssh-command.ts'
import { type AccountContext, withConnection } from '../account-context.ts'
import type { Departure } from '../departures/record.ts'
import type { NodePaths } from './distributed-launch.ts'
import { machineNotReached, notPrepared } from './messages.ts'
import type { ProjectRun, Run } from './model.ts'

/** The machines of an account's runs, over SSH and in State. */
export class RunMachines {
  readonly #context: AccountContext

  constructor(context: AccountContext) {
    this.#context = context
  }

  viewOf(instance: number | undefined): InstanceView | undefined {
    const { store, account } = this.#context
    return store.get().accounts[account]?.instances[instance ?? '']
  }

  /** Uses the connection to a run's machine; undefined while it cannot be entered. */
  async inside<Got>(
    { instance }: Pick<Run, 'instance'>,
    use: (connection: Connection, view: InstanceView) => Promise<Got>,
  ): Promise<Got | undefined> {
    const view = this.viewOf(instance)
    if (!view || !canGetIn(view)) return undefined
    return withConnection(this.#context, view, connection => use(connection, view))
  }

  /**
   * A command's output, without space around it. `within`: milliseconds, 30 seconds by default. Throws `not_running`, and
   * `not_prepared` or `disk_full` where the command fails.
   */
  async ask(run: Run, command: string, input?: string, within = 30_000): Promise<string> {
    const { platform } = this.#context
    const bounds = { clock: platform.clock, within, most: 4096, input }
    const answer = await this.inside(run, connection => outputOf(connection, command, bounds))
    if (!answer) throw new BerthError(machineNotReached)
    if (answer.code !== 0) throw new BerthError(notPrepared(answer.text, answer.code))
    return answer.text.trim()
  }

  /**
   * Brings the results of a run's last machine, with the time of its end, into a folder of its present one. Undefined
   * where one of the two can't be entered, or it failed.
   */
  async handOver(
    run: Run,
    { instance, folder = '', paths, program }: Departure,
    { target, side, signal }: Pick<Handing, 'target' | 'side' | 'signal'>,
  ): Promise<HandedOver | undefined> {
    const { platform } = this.#context
    const { clock } = platform
    try {
      return await this.inside({ instance }, from =>
        this.inside(run, async to => {
          const alive = `cat "\${HOME:-/root}/.berth/runs/${program}/alive"`
          const { text } = await outputOf(from, alive, { clock, within: 30_000, most: 64 })
          const handed = await handOverFiles({ from, to, clock, folder, paths, target, side, signal })
          const end = /^\d{1,12}( \d{1,3})?$/.exec(text.trim())?.[0] ?? '0'
          await this.ask(run, `echo ${end} > ${quote([`${side}/alive/alive`])}`)
          return handed
        }),
      )
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof BerthError) return undefined
      throw error
    }
  }

  /** The project's folder on the machine. Throws the same. */
  async folderOf(run: ProjectRun): Promise<string> {
    const home = await this.ask(run, 'printf %s "$HOME"')
    if (!home.startsWith('/')) throw new BerthError(notPrepared('its shell names no home folder', 0))
    return `${home.replace(/\/$/, '')}/${remoteFolder(run)}`
  }
}

/** The project's folder on the machine, relative to the home folder. */
export function remoteFolder({ project }: ProjectRun): string {
  return `berth/${project.id}`
}

/** The file with the environment's values on the machine, readable by its user alone. No command line contains them. */
function environmentFile(run: Run): string {
  return `berth/.${fileName(run)}.env`
}

/** The same on all nodes of a run. */
function fileName({ id, node }: Run): string {
  return node?.of ?? id
}

/** A run's paths on its machine, relative to the home folder. */
export function remotePaths(run: ProjectRun): NodePaths {
  return { environment: environmentFile(run), folder: remoteFolder(run), ssh: `berth/.${fileName(run)}.ssh` }
}

/** Writes its input to the environment file; prints why it failed. */
export function writeEnvironment(run: Run): string {
  const file = quote([environmentFile(run)])
  return `{ cd && mkdir -p berth && umask 077 && cat > ${file}.part && mv ${file}.part ${file}; } 2>&1`
}

export function environmentText(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export ${name}=${quote([value])}\n`)
    .join('')
}

/**
 * The entry of the environment that tells the processes of a project's command on its instance from all others, also where
 * instances of one host see each other's processes.
 */
export function commandMark({ project, instance }: ProjectRun): string {
  return `BERTH_COMMAND=${project.id}.${instance ?? ''}.`
}

/**
 * The lines before a project's command, which lead to its folder and environment. They read the file with the values and
 * delete it, since the values would stay on a machine that is stopped or waits; only the other nodes of MPI read it later.
 * With a `./` no CDPATH of the image counts.
 */
export function intoProject(run: ProjectRun): string {
  const file = quote([environmentFile(run)])
  const isReadLater = run.project.spec.engine === 'mpi' && run.step === 'running'
  const taken = isReadLater ? '' : ` && rm -f ${file}`
  const mark = run.step === 'running' ? ` && export ${commandMark(run)}` : ''
  return `cd && . ./${file}${taken}${mark} && cd ./${quote([remoteFolder(run)])} || exit 1\n`
}

/** Deletes the file with the environment's values. */
export function removeEnvironment(run: Run): string {
  const file = quote([environmentFile(run)])
  return `cd && rm -f ${file} ${file}.part`
}
