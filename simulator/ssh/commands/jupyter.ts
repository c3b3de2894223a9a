import type { Call } from '../shell/command.ts'

/** `jupyter server list [--json|--jsonlist]`, which shows its token over SSH. */
export async function jupyter({ args, shell, out, err }: Call): Promise<number> {
  const [kind, action, form] = args
  if (kind === '--version') {
    await out('jupyter_server   : 2.14.2\njupyterlab       : 4.2.5\nnotebook         : 7.2.2\n')
    return 0
  }
  if ((kind !== 'server' && kind !== 'lab' && kind !== 'notebook') || action !== 'list') {
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
  else if (form === '--jsonlist') await out(`${JSON.stringify([server], null, 2)}\n`)
  else await out(`Currently running servers:\nhttp://localhost:8080/?token=${token} :: /workspace\n`)
  return 0
}
