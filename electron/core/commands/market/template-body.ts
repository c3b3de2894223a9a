import type { TemplateFields, TemplateFilter } from '#contract/market/template.ts'
import type { Condition, Filters } from '#service/filter.ts'
import type { TemplateBody as ServiceFields, TemplateSearchFields } from '#service/templates.ts'

/** The given fields under the names of section 2.3; absent ones stay unchanged. */
export function changesBody(changes: Partial<TemplateFields>): Partial<ServiceFields> {
  return {
    name: changes.name,
    image: changes.image,
    tag: changes.tag,
    desc: changes.description,
    readme: changes.readme,
    env: changes.env,
    onstart: changes.onstart,
    runtype: changes.runtype,
    args_str: changes.args,
    ssh_direct: changes.sshDirect,
    use_ssh: changes.useSsh,
    jup_direct: changes.jupyterDirect,
    jupyter_dir: changes.jupyterFolder === '' ? null : changes.jupyterFolder,
    use_jupyter_lab: changes.jupyterLab,
    docker_login_repo: changes.registry,
    docker_login_user: changes.registryUser,
    docker_login_pass: changes.registryToken,
    href: changes.href,
    repo: changes.repo,
    extra_filters: changes.extraFilters,
    recommended_disk_space: changes.disk,
    private: changes.private,
    volume_info: changes.volumeInfo,
  }
}

/** A new template. The registry's three fields are required (empty for public images), the tag is optional. */
export function templateBody(fields: TemplateFields): ServiceFields {
  const { tag, ...rest } = changesBody(fields)
  return {
    ...rest,
    tag: tag || undefined,
    name: fields.name,
    image: fields.image,
    docker_login_repo: fields.registry,
    docker_login_user: fields.registryUser,
    docker_login_pass: fields.registryToken ?? '',
  }
}

/** `select_filters`. Where a field and operator come twice, the later counts. */
export function selectFilters(filters: readonly TemplateFilter[]): Filters<TemplateSearchFields> {
  const conditions: Record<string, Condition<string | number | boolean>> = {}
  for (const { field, condition } of filters)
    conditions[field] = { ...conditions[field], [condition.operator]: condition.value }
  return conditions as Filters<TemplateSearchFields>
}
