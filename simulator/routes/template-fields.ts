/** The type of a template's field; `|null` where null is a value too. */
export type TemplateFieldType = 'string' | 'number' | 'boolean' | 'object' | 'string|null' | 'object|null'

/** The fields of a template with their types, section 2.3. */
export const templateFieldTypes: Readonly<Record<string, TemplateFieldType>> = {
  name: 'string',
  image: 'string',
  tag: 'string',
  desc: 'string',
  readme: 'string',
  env: 'string',
  onstart: 'string',
  runtype: 'string',
  args_str: 'string',
  ssh_direct: 'boolean',
  use_ssh: 'boolean',
  jup_direct: 'boolean',
  jupyter_dir: 'string|null',
  use_jupyter_lab: 'boolean',
  docker_login_repo: 'string',
  docker_login_user: 'string',
  docker_login_pass: 'string',
  href: 'string',
  repo: 'string',
  extra_filters: 'object',
  recommended_disk_space: 'number',
  private: 'boolean',
  volume_info: 'object|null',
}
