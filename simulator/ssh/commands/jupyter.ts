import type { Call } from '../shell/command.ts'

/** `jupyter server list [--json]`, which shows its token over SSH. */
export async function jupyter({ args, shell, out, err }: Call): Promise<number> {
  const [kind, action, form] = args
  if ((kind !== 'server' && kind !== 'notebook') || action !== 'list') {
    await err('jupyter: only `jupyter server list [--json]` is available here\n')
    return 2
  }
  const { jupyterToken: token } = shell.machine
  const server = {
    base_url: '/',
    hostname: 'localhost',
    password: false,
    pid: 212,
    port: 8080,
    root_dir: '/workspace',
    secure: false,
    sock: '',
    token,
    url: 'http://localhost:8080/',
    version: '2.14.2',
  }
  if (form === '--json') await out(`${JSON.stringify(server)}\n`)
  else await out(`Currently running servers:\nhttp://localhost:8080/?token=${token} :: /workspace\n`)
  return 0
}
