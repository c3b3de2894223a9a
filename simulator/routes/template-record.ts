import { epochSeconds } from '../world/clock.ts'
import type { FieldType } from '../world/market/filters.ts'
import type { Template } from '../world/templates/template.ts'

/** A template in answers. The registry's token is never sent; its user only to the author. */
export function templateRecord(template: Template, readerId: number): Record<string, unknown> {
  const { docker_login_pass: _secret, docker_login_user, ...shown } = template.content
  return {
    ...shown,
    docker_login_user: template.creatorId === readerId ? docker_login_user : '',
    id: template.id,
    hash_id: template.hashId,
    creator_id: template.creatorId,
    default_tag: template.content.tag,
    recommended: template.recommended,
    count_created: template.launches,
    created_at: epochSeconds(template.created),
    recent_create_date: epochSeconds(template.lastLaunch),
  }
}

/** The fields that `select_filters` knows, section 2.3. */
export const searchableFields: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['creator_id', 'number'],
  ['created_at', 'number'],
  ['count_created', 'number'],
  ['default_tag', 'string'],
  ['docker_login_repo', 'string'],
  ['id', 'number'],
  ['image', 'string'],
  ['jup_direct', 'boolean'],
  ['hash_id', 'string'],
  ['name', 'string'],
  ['recent_create_date', 'number'],
  ['recommended_disk_space', 'number'],
  ['recommended', 'boolean'],
  ['ssh_direct', 'boolean'],
  ['tag', 'string'],
  ['use_ssh', 'boolean'],
])
