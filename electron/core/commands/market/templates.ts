import type { templateCommands as declared } from '#contract/commands/market/templates.ts'
import { startScriptTooLong } from '#contract/market/rental.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { tellingUnread } from '#core/state/unread.ts'
import type { Parts } from '../parts.ts'
import { changesBody, selectFilters, templateBody } from './template-body.ts'
import { templateView } from './template-view.ts'

type TemplateCommands = HandlersOf<typeof declared>

/** Stored launch configurations (section 4.5). Activity names them, but never holds env or token. */
export function templateHandlers({ accounts, activity, store }: Parts): TemplateCommands {
  function checkStartScript(account: string, script: string | undefined): void {
    const problem = startScriptTooLong(script ?? '', store.get().accounts[account]?.beyondInterface)
    if (problem) throw new BerthError({ code: 'invalid_argument', message: problem, field: 'fields.onstart' })
  }

  return {
    async searchTemplates({ account, filters }) {
      const session = accounts.session(account)
      const found = await tellingUnread(store, session.id, 'templates', options =>
        needingPermission('user_read', session.client.templates.search(selectFilters(filters), options)),
      )
      const userId = store.get().accounts[session.id]?.userId
      return found.map(template => templateView(template, userId))
    },
    async createTemplate({ account, fields }) {
      const session = accounts.session(account)
      checkStartScript(session.id, fields.onstart)
      const { id, hash_id: hash } = await needingPermission(
        'user_write',
        session.client.templates.create(templateBody(fields)),
      )
      activity.add({ account: session.id, kind: 'user', text: `Created template ${fields.name}` })
      return { id, hash }
    },
    async editTemplate({ account, hash, changes }) {
      const session = accounts.session(account)
      checkStartScript(session.id, changes.onstart)
      const edited = await needingPermission(
        'user_write',
        session.client.templates.edit(hash, changesBody(changes)),
      )
      const name = edited.name ?? changes.name
      activity.add({ account: session.id, kind: 'user', text: `Edited template ${name ?? hash}` })
      await session.rentals.followTemplate(hash, edited.hash_id, name)
      return { hash: edited.hash_id }
    },
    async deleteTemplate({ account, id }) {
      const session = accounts.session(account)
      await needingPermission('user_write', session.client.templates.remove(id))
      activity.add({ account: session.id, kind: 'user', text: `Deleted template #${id}` })
    },
  }
}
