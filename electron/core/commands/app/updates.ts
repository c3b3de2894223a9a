import type { updateCommands as declared } from '#contract/commands/app/updates.ts'
import { diagnostics } from '#core/app/diagnostics.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import type { NotePageFailure } from '#core/app/page/page-failures.ts'
import type { Updates } from '#core/app/updates.ts'
import type { Log } from '#ports/log.ts'
import type { Parts } from '../parts.ts'

type UpdateCommands = HandlersOf<typeof declared>

export interface UpdateParts extends Pick<Parts, 'store' | 'machine'> {
  log: Log
  updates: Updates
  notePageFailure: NotePageFailure
}

/** Commands for diagnostics and updates of Berth. */
export function updateHandlers({
  store,
  machine,
  log,
  updates,
  notePageFailure,
}: UpdateParts): UpdateCommands {
  return {
    diagnostics: async () => diagnostics(store.get(), log, machine.home, machine.clock.now()),
    reportPageError: async ({ screen, error }) =>
      notePageFailure('A part of the page could not be drawn', `${screen}: ${error}`),
    checkForUpdate: () => updates.check(),
    fetchUpdate: () => updates.fetch(),
    installUpdate: () => updates.install(),
  }
}
