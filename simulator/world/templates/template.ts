import { createHash } from 'node:crypto'
import type { JsonObject } from '#simulator/fields.ts'

/** The defaults of all fields but the required `image` and `name`. */
export const contentDefaults = {
  tag: 'latest',
  desc: '',
  /** Markdown. */
  readme: '',
  /** Docker flags: `-e NAME=value`, `-p host:container`. */
  env: '',
  onstart: '',
  runtype: 'args' as 'ssh' | 'jupyter' | 'args',
  args_str: '',
  ssh_direct: false,
  use_ssh: false,
  jup_direct: false,
  jupyter_dir: null as string | null,
  use_jupyter_lab: false,
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
  href: '',
  repo: '',
  /** `{field: {op: value}}` */
  extra_filters: {} as JsonObject,
  /** GB */
  recommended_disk_space: 8,
  private: false,
  volume_info: null as JsonObject | null,
}

/** The fields that a template's author writes, section 2.3. */
export type TemplateContent = { name: string; image: string } & typeof contentDefaults

/** A stored template. Times in world milliseconds. */
export interface Template {
  readonly id: number
  readonly creatorId: number
  readonly created: number
  /** How often it was edited. */
  edits: number
  content: TemplateContent
  hashId: string
  recommended: boolean
  /** Instances made from it. */
  launches: number
  lastLaunch: number
}

/**
 * The hash of a template's content, 32 hexadecimal digits. It includes the id and the number of edits: equal templates
 * have different hashes, and an edit that restores an old text gives a new one.
 */
export function hashOf(id: number, edits: number, content: TemplateContent): string {
  const text = JSON.stringify([id, edits, ...Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1))])
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
