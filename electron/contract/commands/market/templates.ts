import * as v from 'valibot'
import { TemplateFields, TemplateFilter, type TemplateView } from '#contract/market/template.ts'
import { account, command, ServiceId, text } from '../command.ts'

/** Stored launch configurations (sections 2.3 and 4.5). */
export const templateCommands = {
  searchTemplates: command({ account, filters: v.pipe(v.array(TemplateFilter), v.maxLength(50)) }).answers<
    readonly TemplateView[]
  >(),
  createTemplate: command({ account, fields: TemplateFields }).answers<{ id: number; hash: string }>(),
  /** Only the changed fields. Answers the new hash, which replaces the old one in remembered rentals too. */
  editTemplate: command({ account, hash: text(256), changes: v.partial(TemplateFields) }).answers<{
    hash: string
  }>(),
  deleteTemplate: command({ account, id: ServiceId }).answers<void>(),
}
