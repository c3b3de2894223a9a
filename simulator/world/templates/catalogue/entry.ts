import type { JsonObject } from '#simulator/fields.ts'
import { contentDefaults, type TemplateContent } from '../template.ts'

/** A template of the public catalogue in short form. */
export interface Entry {
  name: string
  image: string
  tag?: string
  desc: string
  /** The readme's text below the title. */
  about: string
  /** What listens on each container port; each is mapped to itself. */
  ports?: Record<number, string>
  env?: Record<string, string>
  /** The kind of access; `ssh` and `jupyter` both include SSH. Default `ssh`. */
  runtype?: TemplateContent['runtype']
  args?: string
  onstart?: string
  /** GB; default 16. */
  disk?: number
  filters?: JsonObject
  href?: string
  /** Maintained by the service itself. */
  recommended?: boolean
  /** About how many instances were made from it; default 40. */
  popularity?: number
}

/** The whole template; its flags and readme follow from the entry. */
export function contentOf(entry: Entry): TemplateContent {
  const { runtype = 'ssh', ports = {}, env = {} } = entry
  return {
    ...contentDefaults,
    name: entry.name,
    image: entry.image,
    tag: entry.tag ?? contentDefaults.tag,
    desc: entry.desc,
    readme: readmeOf(entry, ports, env),
    env: [
      ...Object.keys(ports).map(port => `-p ${port}:${port}`),
      ...Object.entries(env).map(([name, value]) => `-e ${name}=${quoted(value)}`),
    ].join(' '),
    onstart: entry.onstart ?? '',
    runtype,
    args_str: entry.args ?? '',
    ssh_direct: runtype !== 'args',
    use_ssh: runtype !== 'args',
    jup_direct: runtype === 'jupyter',
    jupyter_dir: runtype === 'jupyter' ? '/workspace' : null,
    use_jupyter_lab: runtype === 'jupyter',
    href: entry.href ?? '',
    repo: entry.image,
    extra_filters: entry.filters ?? {},
    recommended_disk_space: entry.disk ?? 16,
  }
}

function quoted(value: string): string {
  return /^[\w./:,@%+=-]*$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

function readmeOf(entry: Entry, ports: Record<number, string>, env: Record<string, string>): string {
  const parts = [`# ${entry.name}`, entry.about]
  const portRows = Object.entries(ports).map(([port, what]) => `| ${port} | ${what} |`)
  if (portRows.length > 0)
    parts.push(['## Ports', '', '| Port | What answers |', '|---|---|', ...portRows].join('\n'))
  const envRows = Object.entries(env).map(([name, value]) => `| \`${name}\` | \`${value || '(empty)'}\` |`)
  if (envRows.length > 0)
    parts.push(['## Environment', '', '| Name | Default |', '|---|---|', ...envRows].join('\n'))
  if (entry.onstart) parts.push(['## At the start', '', '```sh', entry.onstart, '```'].join('\n'))
  if (entry.href) parts.push(`More about the image: <${entry.href}>`)
  return `${parts.join('\n\n')}\n`
}
