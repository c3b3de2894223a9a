import * as v from 'valibot'
import type { Clock, Files } from '#platform/platform.ts'
import { deferred } from '#platform/tasks.ts'
import { defaultSettings } from '#shared/settings.ts'
import type { App, State } from '#shared/state.ts'
import { rememberedView, StoredAccounts } from './accounts/stored-accounts.ts'
import { createPageLink, type Dispatch } from './bridge/dispatcher.ts'
import type { Streams } from './bridge/streams.ts'
import type { RunningBerth } from './running.ts'
import { readSettings } from './settings.ts'
import { readDocument } from './storage/json-file.ts'
import { createStore, type Store } from './storage/store.ts'

/** What pages show while the rest of Berth is loaded and started: the instances as they were last seen. */
export interface FirstState extends Pick<RunningBerth, 'connectPage'> {
  readonly store: Store
  /** Resolves once a page has drawn the State, and reports which screen it shows. */
  readonly drawn: Promise<void>
  /** From here on pages' commands run; until then they wait. `left`: called when a page is gone. */
  run(dispatch: Dispatch, left: (page: Streams) => void): void
}

/**
 * Reads it from Berth's files, and changes none of them. Undefined where the shown account had no instances: its page
 * opens on Home, which needs everything.
 */
export async function readFirstState(
  files: Files,
  clock: Clock,
  app: Pick<App, 'version' | 'shell' | 'runtime' | 'platform'>,
): Promise<FirstState | undefined> {
  const [accounts, settings] = await Promise.all([
    readDocument(files, 'accounts.json', StoredAccounts),
    readDocument(files, 'settings.json', v.record(v.string(), v.unknown())),
  ])
  const staying = accounts?.accounts.filter(({ leaving }) => !leaving) ?? []
  const now = clock.now()
  const views = await Promise.all(staying.map(account => rememberedView(files, account, now)))
  const shown = views.find(({ id }) => id === accounts?.shown) ?? views[0]
  if (!shown || Object.keys(shown.instances).length === 0) return undefined
  const store = createStore({
    ...emptyState({ ...app, terminals: [], editors: [], notifications: true }),
    accounts: Object.fromEntries(views.map(view => [view.id, view])),
    settings: readSettings(settings ?? {}),
    shown: shown.id,
  })

  const running = deferred<Dispatch>()
  const isDrawn = deferred<void>()
  let left: (page: Streams) => void = () => undefined
  return {
    store,
    drawn: isDrawn.promise,
    connectPage(send, isInFront) {
      const later: Dispatch = async (name, ...call) => {
        if (name === 'reportPlace') isDrawn.resolve()
        return (await running.promise)(name, ...call)
      }
      return createPageLink(store, later, send, page => left(page), isInFront)
    },
    run(dispatch, leave) {
      left = leave
      running.resolve(dispatch)
    },
  }
}

/** State before anything is known but the app. */
export function emptyState(app: App): State {
  return {
    app,
    accounts: {},
    settings: defaultSettings,
    savedSearches: {},
    projects: {},
    projectSecrets: [],
    relays: {},
    activity: {},
    notices: {},
  }
}
