import type { SshAddress } from '#shared/instance/instance.ts'
import type { Target } from '#ssh/connection/sharing.ts'
import type { Shell, ShellSize } from '#ssh/shell/shell.ts'

/** The options of a shell that the tests of this folder choose. */
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

/** The output of a command in a shell with prompt and echo. */
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

/** A user's loose options for all hosts, which must not apply to instances. */
export const looseConfig = `Host *
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  HashKnownHosts yes
  IdentitiesOnly no
  ForwardAgent yes
  ForwardX11 yes
  PreferredAuthentications password
`

/** The options that `ssh -G` must still print for an instance. */
export const strictOptions = [
  'stricthostkeychecking accept-new',
  'hashknownhosts no',
  'identitiesonly yes',
  'forwardagent no',
  'forwardx11 no',
  'preferredauthentications publickey',
]
