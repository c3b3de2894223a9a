import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import { lacksSpec } from '#shared/project/project.ts'
import type { Place } from '#shared/state.ts'

/** Follows a notification, a tray or menu entry or a link, and opens the dialog that belongs to it. */
export function goToPlace(page: Page, place: Place): void {
  if (place.screen === 'here') {
    dialogs.show({ kind: place.ask })
    return
  }
  route.go(pathOf(place))
  if (place.screen === 'offers') showOffers(page, place)
  if (place.screen === 'projects' && place.project !== undefined && place.ask === 'run')
    showRun(page, place.project)
  if (place.screen === 'instances' && place.instance !== undefined && place.ask)
    dialogs.show({ kind: questions[place.ask], instance: place.instance })
}

const questions = {
  limit: 'limit',
  bid: 'bid',
  replace: 'another',
  destroy: 'destroy',
  terminal: 'terminal',
  stop: 'stop',
  start: 'start',
  reboot: 'reboot',
} as const

function showRun(page: Page, project: string): void {
  const view = page.state?.projects[project]
  dialogs.show({ kind: view && lacksSpec(view) ? 'editSpec' : 'runProject', project })
}

function showOffers(page: Page, { search, offer, again }: Place & { screen: 'offers' }): void {
  if (again !== undefined) dialogs.show({ kind: 'rentAgain', rental: again })
  if (search)
    void import('#renderer/features/market/market.svelte.ts').then(({ marketOf }) =>
      marketOf(page).open(search, offer),
    )
}

/**
 * Tells the main process which screen the user sees, so that nothing visible is raised as a notification, too, and
 * whether quitting would lose text.
 */
export function reportPlace(page: Page, focused: boolean): void {
  // Before the first State there is no screen yet.
  if (page.reach !== 'connected' || route.screen === '') return
  const instance = route.screen === 'instances' ? Number(route.rest[0]) : Number.NaN
  const place = {
    focused,
    screen: route.screen.slice(0, 32),
    instance: Number.isSafeInteger(instance) && instance > 0 ? instance : undefined,
    unsaved: page.isUnsaved,
  }
  // Without the report, the user gets a notification too many, or no question before quitting.
  page.berth.reportPlace(place).catch(() => undefined)
}

/** The part of the address behind `#/`. */
function pathOf(place: Exclude<Place, { screen: 'here' }>): string {
  if (place.screen === 'projects') return ['projects', place.project, place.entry].filter(Boolean).join('/')
  if (place.screen !== 'instances' || place.instance === undefined) return place.screen
  return ['instances', place.instance, place.tab].filter(Boolean).join('/')
}
