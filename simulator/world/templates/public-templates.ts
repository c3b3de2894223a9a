import type { JsonObject } from '#simulator/fields.ts'
import entries from './public-templates.json' with { type: 'json' }
import { contentDefaults, type TemplateContent } from './template.ts'

/** A template of the public catalogue in short form, as public-templates.json has it. */
interface Entry {
  name: string
  image: string
  tag?: string
  desc: string
  /** The readme's text below the title. */
  about: string
  /** What listens on each container port; each is mapped to itself. */
  ports?: Record<string, string>
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

/** Public templates, and about how many instances were made from each. */
export const publicTemplates: readonly {
  content: TemplateContent
  recommended: boolean
  popularity: number
}[] = (entries as Entry[]).map(entry => ({
  content: contentOf(entry),
  recommended: entry.recommended ?? false,
  popularity: entry.popularity ?? 40,
}))

/** Private templates of other users, which only they may see and use. */
export const strangersTemplates: readonly TemplateContent[] = [
  {
    ...contentDefaults,
    name: 'acme training (internal)',
    image: 'registry.acme.example/ml/train',
    docker_login_repo: 'registry.acme.example',
    docker_login_user: 'acme-ci',
    docker_login_pass: 'a token of theirs',
    private: true,
  },
  { ...contentDefaults, name: 'my experiments', image: 'pytorch/pytorch', private: true },
]

/** The whole template; its flags and readme follow from the entry. */
function contentOf(entry: Entry): TemplateContent {
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

function readmeOf(entry: Entry, ports: Record<string, string>, env: Record<string, string>): string {
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
