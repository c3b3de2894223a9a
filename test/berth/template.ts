import type { TemplateFields } from '#shared/market/template.ts'

/** A private template with nothing but a name and an image, for SSH. */
export const plainTemplate: TemplateFields = {
  name: 'Plain',
  image: 'ubuntu',
  tag: '',
  description: '',
  readme: '',
  env: '',
  onstart: '',
  runtype: 'ssh',
  args: '',
  sshDirect: true,
  useSsh: true,
  jupyterDirect: false,
  jupyterFolder: '',
  jupyterLab: false,
  registry: '',
  registryUser: '',
  href: '',
  repo: '',
  extraFilters: {},
  disk: 20,
  private: true,
  volumeInfo: null,
}
