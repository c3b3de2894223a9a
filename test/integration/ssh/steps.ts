import type { SshAddress } from '../../../electron/contract/instance/instance.ts'
import { BerthError, type Problem } from '../../../electron/contract/problem.ts'
import type { Target } from '../../../electron/ssh/connection/sharing.ts'
import type { Shell, ShellSize } from '../../../electron/ssh/shell/shell.ts'

/** What the tests of this folder say about a shell they open; the rest is as good as any. */
export interface Wanted {
  direct?: SshAddress
  proxy?: SshAddress
  instance?: number
  jupyter?: boolean
  keyName?: string
  deadlineMs?: number
}

export const account = 'a00000001'

export function target(wanted: Wanted): Target & ShellSize {
  const { direct, proxy, instance = 4711, jupyter = false, keyName = 'berth', deadlineMs = 8000 } = wanted
  const addresses = { ...(direct && { direct }), ...(proxy && { proxy }) }
  return {
    account,
    instance,
    addresses,
    jupyterRuntype: jupyter,
    keyName,
    deadlineMs,
    columns: 101,
    rows: 33,
  }
}

/** The lines that a command prints, with a prompt and an echo around them. */
export function answerTo(shell: Shell, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const found = /<<\r?\n([\s\S]*?)\r?\n?>>/.exec(text)
      if (found === null) return
      shell.stream.off('data', onData)
      resolve(found[1] ?? '')
    }
    shell.stream.on('data', onData)
    shell.ended.then(problem => reject(new Error(`the shell ended: ${problem?.message} after ${text}`)))
    shell.stream.write(`echo "<""<"; ${command}; echo ">"">"\n`)
  })
}

/** What a user may have asked of all hosts, and hardly meant for somebody else's machine. */
export const looseConfig = `Host *
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  HashKnownHosts yes
  IdentitiesOnly no
  ForwardAgent yes
  ForwardX11 yes
`

/** What `ssh -G` prints for an instance all the same. */
export const strictOptions = [
  'stricthostkeychecking accept-new',
  'hashknownhosts no',
  'identitiesonly yes',
  'forwardagent no',
  'forwardx11 no',
]

/** The problem that some work fails with; fails itself when it does not, or with anything else. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    reason => reason,
  )
  if (error instanceof BerthError) return error.problem
  throw error ?? new Error('nothing was wrong')
}
