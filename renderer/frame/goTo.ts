import { lacksSpec } from '#contract/project/project.ts'
import type { Place } from '#contract/state.ts'
import { dialogs } from '#renderer/berth/dialogs.svelte.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { route } from '#renderer/berth/route.svelte.ts'

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
  bid: 'bid',
  replace: 'another',
  destroy: 'destroy',
  terminal: 'terminal',
  start: 'start',
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

/** The part of the address behind `#/`. */
function pathOf(place: Exclude<Place, { screen: 'here' }>): string {
  if (place.screen === 'projects') return ['projects', place.project].filter(Boolean).join('/')
  if (place.screen !== 'instances' || place.instance === undefined) return place.screen
  return ['instances', place.instance, place.tab].filter(Boolean).join('/')
}
