import type { TemplateFields, TemplateView } from '#contract/market/template.ts'
import type { Template } from '#service/templates.ts'

/** The view of a template's record, without the registry's token even where a service sends it. */
export function templateView(template: Template, userId: number | undefined): TemplateView {
  return {
    name: template.name.trim() || template.image || 'Without a name',
    hash: template.hash_id,
    id: template.id,
    creatorId: template.creator_id,
    own:
      template.creator_id === undefined || userId === undefined ? undefined : template.creator_id === userId,
    createdAt: template.created_at,
    recentlyUsedAt: template.recent_create_date,
    used: template.count_created,
    recommended: template.recommended,
    defaultTag: template.default_tag,
    image: template.image,
    tag: template.tag,
    description: template.desc,
    readme: template.readme,
    env: template.env,
    onstart: template.onstart,
    runtype: runtypeOf(template.runtype),
    args: template.args_str,
    sshDirect: template.ssh_direct,
    useSsh: template.use_ssh,
    jupyterDirect: template.jup_direct,
    jupyterFolder: template.jupyter_dir,
    jupyterLab: template.use_jupyter_lab,
    registry: template.docker_login_repo,
    registryUser: template.docker_login_user,
    href: template.href,
    repo: template.repo,
    extraFilters: template.extra_filters,
    disk: template.recommended_disk_space,
    private: template.private,
    volumeInfo: template.volume_info,
  }
}

/** Deployments also send forms such as `jupyter_direc ssh_direc ssh_proxy` (FIELDS). */
function runtypeOf(runtype: string | undefined): TemplateFields['runtype'] | undefined {
  if (runtype === undefined) return undefined
  if (runtype.includes('jupyter')) return 'jupyter'
  return runtype.includes('ssh') ? 'ssh' : 'args'
}
