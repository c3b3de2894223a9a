import type { appCommands, updateCommands } from '#contract/commands/app.ts'
import type { Log } from '#platform/platform.ts'
import { type Shortcuts, shortcutConflict, shortcutNames } from '#shared/accelerators.ts'
import { BerthError } from '#shared/problem.ts'
import type { SettingsChange } from '#shared/settings.ts'
import { spenderOf, spenderWords } from '#shared/spending/spender.ts'
import type { State } from '#shared/state.ts'
import type { NotePageFailure } from '../activity.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { type DemoControls, makeHappen } from '../demo.ts'
import { diagnostics } from '../diagnostics.ts'
import { exportText, importPlan, isHere, readExport } from '../export.ts'
import type { Updates } from '../updates.ts'
import { playStory } from './demo-story.ts'
import type { Services } from './services.ts'

/** Commands about Berth itself rather than the service. */
export function appHandlers(parts: Services): HandlersOf<typeof appCommands> {
  const { store, platform, accounts, pause, activity, notifications, settings, sshConfig, demo, searches } =
    parts

  let story: AbortController | undefined

  /** The controls of the demo's events. Throws `no_demo` outside the demo. */
  async function demoControls(): Promise<DemoControls> {
    if (!demo || !store.get().accounts['demo'])
      throw new BerthError({
        code: 'no_demo',
        message: 'Events can be simulated in the demo only.',
      })
    return (await demo.start()).controls
  }

  return {
    async changeSettings({ settings: given }) {
      const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      const { sshConfig: wanted, startAtLogin, commandFile, shortcuts } = given
      if (shortcuts)
        refuseConflicts({ ...settings.get().shortcuts, ...shortcuts }, shortcuts, store.get().app.platform)
      // First, so that a choice that fails is not stored.
      if (wanted !== undefined && wanted !== settings.get().sshConfig) await sshConfig.turn(wanted)
      if (startAtLogin !== undefined && startAtLogin !== settings.get().startAtLogin) {
        if (!platform.autostart) throw new BerthError(noAutostart)
        await platform.autostart.choose(startAtLogin)
      }
      if (commandFile !== undefined && commandFile !== settings.get().commandFile) {
        if (!platform.commandFile) throw new BerthError(noCommandFile)
        await (commandFile ? platform.commandFile.write() : platform.commandFile.remove())
      }
      const before = settings.get().spenders
      const after = await settings.change(changes as SettingsChange)
      store.change(draft => {
        draft.settings = after
      })
      const names = new Set(after.spenders.map(({ kind, name }) => spenderOf(kind, name)))
      for (const by of before.map(({ kind, name }) => spenderOf(kind, name)))
        if (!names.has(by))
          activity.add({
            kind: 'user',
            text: `Removed ${spenderWords(by)} from Agents and scripts`,
            detail: 'Machines that it has run on without its caps.',
          })
    },
    async leaveDesktop() {
      if (settings.get().sshConfig) await sshConfig.turn(false)
      await platform.autostart?.choose('no')
      await platform.links?.withdraw()
      await platform.commandFile?.remove()
      const after = await settings.change({ sshConfig: false, startAtLogin: 'no', commandFile: false })
      store.change(draft => {
        draft.settings = after
      })
    },
    searchActivity: async ({ text, before, limit }) => activity.search(text, before, limit),
    answerNotice: async ({ id, action }) => notifications.answer(id, action),
    dismissNotice: async ({ id }) => notifications.dismiss(id),
    pausePolling: async ({ minutes }) => pause.begin(minutes),
    resumePolling: async () => pause.end(),
    async reportPlace(place, { streams, isInFront }) {
      if (streams) notifications.pageIsAt(streams, { ...place, isInFront })
    },
    openLink: ({ url }) => platform.opener.openLink(url),
    exportBerth: async () => exportText(store.get(), platform.clock.now()),
    planImport: async ({ text }) => importPlan(readExport(text), store.get()),
    async importBerth({ text }) {
      const file = readExport(text)
      const after = await settings.change(file.settings as SettingsChange)
      store.change(draft => {
        draft.settings = after
      })
      for (const { name, query } of file.searches) await searches.save(name, query)
      for (const account of file.accounts)
        if (!isHere(account, store.get())) await accounts.addWithoutKey(account)
      activity.add({ kind: 'user', text: 'Imported settings of another Berth' })
    },
    async quit() {
      if (!platform.quit) throw new BerthError(cannotQuit)
      platform.quit()
    },
    tryDemo: () => accounts.showDemo(),
    demoMessage: async () =>
      store.get().accounts['demo'] ? (await demo?.start())?.controls.outbox().at(-1) : undefined,
    async demoEvent({ event, instance }) {
      const controls = await demoControls()
      makeHappen(controls, event, instance, store.get().accounts['demo'])
      await accounts.session('demo').poll()
    },
    async playStory() {
      const controls = await demoControls()
      if (store.get().story?.step) throw new BerthError(storyUnderWay)
      story = new AbortController()
      void playStory(parts, controls, story.signal)
    },
    async stopStory() {
      story?.abort()
    },
  }
}

const storyUnderWay = { code: 'story_under_way', message: 'The demo day is already playing.' }

const cannotQuit = { code: 'cannot_quit', message: 'This Berth is ended by the program that started it.' }

const noAutostart = {
  code: 'no_autostart',
  message: 'In a browser, Berth can’t start when you log in.',
  advice: 'Use the desktop app for that.',
  field: 'startAtLogin',
}

const noCommandFile = {
  code: 'no_command_file',
  message: 'On Windows there’s no personal folder for commands.',
  advice: 'Run Berth’s program with --cli.',
  field: 'commandFile',
}

export interface UpdateParts extends Pick<Services, 'store' | 'platform'> {
  log: Log
  updates: Updates
  notePageFailure: NotePageFailure
}

/** Commands for diagnostics and updates of Berth. */
export function updateHandlers({
  store,
  platform,
  log,
  updates,
  notePageFailure,
}: UpdateParts): HandlersOf<typeof updateCommands> {
  return {
    diagnostics: async () => diagnostics(store.get(), log, platform.home, platform.clock.now()),
    reportPageError: async ({ screen, error }) =>
      notePageFailure('Part of the page couldn’t be shown', `${screen}: ${error}`),
    checkForUpdate: () => updates.check(),
    fetchUpdate: () => updates.fetch(),
    installUpdate: () => updates.install(),
  }
}

/** Throws `keys_taken` if changed keys have another use. */
function refuseConflicts(all: Shortcuts, changed: object, platform: State['app']['platform']): void {
  for (const name of shortcutNames.filter(one => Object.hasOwn(changed, one))) {
    const message = shortcutConflict(all, name, platform)
    if (message !== undefined)
      throw new BerthError({
        code: 'keys_taken',
        message,
        advice: 'Choose others.',
        field: 'settings.shortcuts',
      })
  }
}
