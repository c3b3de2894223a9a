import { instanceName, named } from '#shared/format/name.ts'
import { sharedHostKeyWords } from '#shared/instance/ssh-key.ts'
import { findEditors } from '#ssh/editors.ts'
import { findTerminals } from '#ssh/shell/system-terminal.ts'
import { commands } from '../contract/commands.ts'
import type { Files, Keychain, Log, Platform } from '../platform/platform.ts'
import type { AccountId } from '../shared/ids.ts'
import type { BerthError, Problem } from '../shared/problem.ts'
import type { App } from '../shared/state.ts'
import { type Access, openAccess, showWays } from './access/access.ts'
import { openFileTransfers } from './access/file-transfers.ts'
import { createTunnels, type Tunnels } from './access/instance-tunnel.ts'
import { openSshConfig } from './access/ssh-config.ts'
import type { AccountsContext } from './accounts/account-sessions.ts'
import { openAccounts } from './accounts/accounts.ts'
import { createPause } from './accounts/pause-polling.ts'
import { openActivity, pageFailures } from './activity.ts'
import { brokenFileTeller } from './alerts/broken-files.ts'
import { createNotifications, type GiveCommand } from './alerts/notifications.ts'
import { createOutsideActions } from './alerts/outside-actions.ts'
import { openPageNotices } from './alerts/page-notices.ts'
import { createDispatcher, createPageLink } from './bridge/dispatcher.ts'
import { sshArguments } from './commands/access.ts'
import { allCommands } from './commands/all-commands.ts'
import { beginAgain } from './commands/files.ts'
import { gateNamedCallers } from './commands/named-callers.ts'
import { registerProject } from './commands/projects.ts'
import { ChosenFiles, type Services } from './commands/services.ts'
import type { Demo } from './demo.ts'
import { emptyState, type FirstState } from './first-state.ts'
import { freezeWords } from './freeze-words.ts'
import { instanceKeyEntry } from './instances/mark.ts'
import { createRecentSearches, createSeenOffers } from './market/recent-searches.ts'
import { openSavedSearches } from './market/saved-searches.ts'
import { followLink } from './outside-link.ts'
import { openProjects } from './projects/projects.ts'
import { openProjectSecrets } from './projects/secrets.ts'
import { Relays } from './relays/perform.ts'
import { poster } from './relays/post.ts'
import type { RunningBerth } from './running.ts'
import { followAutostart, followCommandFile, openSettings } from './settings.ts'
import { type BrokenFile, type DocumentPlace, watchedFiles } from './storage/json-file.ts'
import { learnedKeychain } from './storage/noted-keychain.ts'
import { createStore, goTo, type Store } from './storage/store.ts'
import { openUpdates } from './updates.ts'

export interface BerthOptions {
  log: Log
  platform: Platform
  app: Pick<App, 'version' | 'shell' | 'tray' | 'runtime'>
  demo?: Demo
  /** What pages show already. */
  first?: FirstState | undefined
}

/** Builds and starts Berth: from here on all accounts are polled. */
export async function startBerth(options: BerthOptions): Promise<RunningBerth> {
  const { app, first } = options
  /** Set once notices can be shown; until then a failed write rejects the start. */
  let sayNotWritten: (failure: BerthError) => void = () => undefined
  const appNow = appAtStart(app, options.platform)
  const store = first?.store ?? createStore(emptyState(appNow))
  store.change(draft => {
    draft.app = appNow
  })
  const watched = (files: Files) => watchedFiles(files, failure => sayNotWritten(failure))
  const platform = {
    ...options.platform,
    files: watched(options.platform.files),
    keychain: learnedKeychain(options.platform.keychain, options.log.learn),
  }
  const demo = options.demo && { ...options.demo, files: watched(options.demo.files) }
  const { clock, files, keychain, notifier } = platform
  keychain.onChange?.(() =>
    store.change(draft => {
      draft.app.keychainProblem = keychain.problem || undefined
    }),
  )
  /** Files that could not be read before notices can be shown. */
  const broken: BrokenFile[] = []
  let tellOf: DocumentPlace['onBroken'] = file => void broken.push(file)
  const tellBroken: DocumentPlace['onBroken'] = file => tellOf(file)
  const places = demo ? [files, demo.files] : [files]
  const activity = await openActivity(
    store,
    clock,
    places,
    account => (account === 'demo' && demo ? demo.files : files),
    tellBroken,
  )
  const sayProblem = ({ message, advice }: Problem, on?: { account: AccountId; instance: number }) =>
    activity.add({ ...on, kind: 'error', text: message, detail: advice || undefined })
  const newId = () => platform.random.hex(16)
  const [settings, searches, projects, secrets, pageNotices, fileTransfers, relays] = await Promise.all([
    openSettings(files, clock, tellBroken),
    openSavedSearches(store, platform, tellBroken),
    openProjects(store, platform, tellBroken),
    openProjectSecrets(store, platform, tellBroken),
    openPageNotices({ store, clock, notifier, files, onBroken: tellBroken }),
    openFileTransfers({ store, clock, files, activity, newId, onBroken: tellBroken }),
    Relays.open({
      ...platform,
      store,
      activity,
      mask: options.log.mask,
      post: poster(),
      onBroken: tellBroken,
    }),
  ])
  await followAutostart(settings, platform.autostart)
  await followCommandFile(settings, platform.commandFile)
  store.change(draft => {
    draft.settings = settings.get()
  })
  const notifications = createNotifications({ store, activity, notifier, pageNotices })
  notifications.onTold((account, alerts) => relays.tell(account, alerts))
  tellOf = brokenFileTeller({ activity, notifications })
  for (const file of broken) tellOf(file)
  sayNotWritten = ({ problem }) => {
    sayProblem(problem)
    const body = `${problem.message} ${problem.advice ?? ''}`
    notifications.say({
      id: 'not-written',
      title: 'Berth can’t save its files',
      body,
      urgency: 'normal',
      actions: [],
    })
  }
  const access = openAccess(platform, demo?.files, store.get, (account, instance, problem) =>
    sayProblem(problem, { account, instance }),
  )
  access.onWay(showWays(store))
  access.onWay((account, instance, _way, hostKey) => {
    const { isFirst = false, sharedWith = [] } = hostKey ?? {}
    if (!isFirst || sharedWith.length === 0) return
    const name = instanceName(store.get().accounts[account]?.instances[instance] ?? { id: instance })
    const text = `${name} has the same host key as ${named(sharedWith.map(holder => holder.name))}`
    activity.add({ account, instance, kind: 'berth', text, detail: sharedHostKeyWords })
  })
  const sshConfig = await openSshConfig({
    store,
    platform,
    access,
    onBroken: tellBroken,
    onProblem: problem => sayProblem(problem),
  })
  const tunnels = createTunnels({ store, clock, random: platform.random, access })
  const accounts = await openAccounts({
    store,
    platform,
    activity,
    notifications,
    access,
    fileTransfers,
    forProjects: { projects, secrets },
    demo,
    tellOf: (account, name) => relays.linesFor(account, name),
    ...instanceEvents(tunnels, access, keychain),
  })

  await sshConfig.follow((account, instance) =>
    access.attachKey(account, instance, accounts.session(account).client),
  )
  void showPrograms(store, platform)

  const pause = createPause({ store, clock, activity, notifications, pollAccounts: accounts.pollNow })
  const parts: Services = {
    store,
    platform,
    accounts,
    pause,
    activity,
    notifications,
    settings,
    searches,
    recentSearches: createRecentSearches(clock),
    seenOffers: createSeenOffers(),
    access,
    fileTransfers,
    folders: new ChosenFiles(platform.random),
    tunnels,
    sshConfig,
    projects,
    secrets,
    relays,
    demo,
  }
  fileTransfers.tellLost(lost => beginAgain(parts, lost))
  const { log } = options
  const notePageFailure = pageFailures(activity, clock, log)
  const updates = openUpdates(store, clock, log, platform.updater)
  const updateParts = { store, platform, log, updates, notePageFailure }
  const dispatch = createDispatcher(commands, allCommands(parts, updateParts), log.line)

  const gated = gateNamedCallers(parts, dispatch)

  const give: GiveCommand = (name, args) => dispatch(name, args, {})
  notifications.onCommand(give)
  const outside = createOutsideActions({ store, clock, notifications, give })
  notifications.onAct(outside.askOrAct)
  first?.run(dispatch, page => notifications.pageIsAt(page))

  return {
    state: store.get,
    onChange: store.onChange,
    connectPage: (send, isInFront, by) =>
      createPageLink(store, gated, send, page => notifications.pageIsAt(page), isInFront, by),
    dispatch: give,
    act: outside.act,
    sshArguments: on => sshArguments(parts, on),
    registerProject: folder => registerProject(parts, folder),
    goTo: (account, place) => goTo(store, account, place),
    forgetGoTo: () =>
      store.change(draft => {
        delete draft.goTo
      }),
    follow: link =>
      followLink(store, link, (title, body) =>
        notifications.say({ id: 'link', title, body, urgency: 'normal', actions: [] }),
      ),
    spentToday: account => accounts.find(account)?.automations.money.spentToday(),
    say: notice => notifications.say(notice),
    noteFreeze(freeze) {
      const locked = Object.values(store.get().accounts).filter(
        ({ connection }) => connection.status === 'locked',
      )
      const { title, body } = freezeWords(
        freeze,
        locked.map(({ name }) => name),
      )
      activity.add({ kind: 'error', text: title, detail: body })
      notifications.say({ id: 'freeze', title, body, urgency: 'critical', actions: [] })
      pause.pollNow()
    },
    pollNow: pause.pollNow,
    beforeSleep: accounts.beforeSleep,
    notePageFailure,
    noteTray: present =>
      store.change(draft => {
        draft.app.tray = present
      }),
    noteGlobalShortcut: state =>
      store.change(draft => {
        draft.app.globalShortcut = state
      }),
    async close() {
      updates.close()
      pause.close()
      // What the demo told is over with it, and a desktop would go on showing it.
      await notifications.withdrawAccount('demo')
      await pageNotices.close()
      await fileTransfers.close()
      await accounts.close()
      await relays.close()
      await sshConfig.close()
      await tunnels.close()
      await access.close()
      await activity.flush()
    },
  }
}

/** What is known of the app and its machine at the start. */
function appAtStart(
  app: BerthOptions['app'],
  { os: platform, notifier, autostart, commandFile, keychain }: Platform,
): App {
  return {
    ...app,
    platform,
    terminals: [],
    editors: [],
    notifications: notifier.available,
    autostart: app.shell === 'electron' ? autostart !== undefined : undefined,
    commandFile: commandFile?.path,
    keychainProblem: keychain.problem || undefined,
  }
}

/** The terminals and editors on this machine. The start doesn't wait for them: that takes a look into every folder of the PATH. */
async function showPrograms(store: Store, platform: Platform): Promise<void> {
  const [terminals, editors] = await Promise.all([
    findTerminals(platform.programs, platform.os),
    findEditors(platform),
  ])
  store.change(draft => {
    draft.app.terminals = terminals.map(({ id, name }) => ({ id, name }))
    draft.app.editors = editors.map(({ id, name }) => ({ id, name }))
  })
}

/** Follow-ups when an instance is created, missing, or permanently gone. Their failures are ignored. */
function instanceEvents(
  tunnels: Tunnels,
  access: Access,
  keychain: Keychain,
): Pick<AccountsContext, 'onAway' | 'onGone' | 'onCreated'> {
  return {
    onAway(account, instance) {
      void tunnels.drop(account, instance).catch(() => undefined)
      void access.disconnect(account, instance).catch(() => undefined)
    },
    onGone(account, instance) {
      void tunnels.drop(account, instance).catch(() => undefined)
      void access.drop(account, instance).catch(() => undefined)
      void keychain.delete(instanceKeyEntry(account, instance)).catch(() => undefined)
    },
    onCreated({ account, client }, instance, key) {
      if (key && account !== 'demo')
        void keychain.set(instanceKeyEntry(account, instance), key).catch(() => undefined)
      // Some services refuse keys during provisioning; then the key is attached at the first connection.
      void access.attachKey(account, instance, client).catch(() => undefined)
    },
  }
}
