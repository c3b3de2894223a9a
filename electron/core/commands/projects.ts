import type { projectCommands, runCommands, sweepCommands } from '#contract/commands/projects.ts'
import type { RunRequest } from '#shared/automation/run.ts'
import { BerthError } from '#shared/problem.ts'
import { secretUse } from '#shared/project/borrowed.ts'
import type { ProjectSpec, SpecChange } from '#shared/project/spec.ts'
import { changedSpec } from '#shared/project/sweep.ts'
import { plainLine } from '#ssh/monitor/plain-output.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { needingPermission } from '../bridge/problems.ts'
import { agreementOf, specChanged } from '../projects/projects.ts'
import type { NewRun } from '../runs/model.ts'
import { outputStream, pageOf, searchOutput } from '../runs/output-pages.ts'
import { noteUser, type Services, targetOf } from './services.ts'

/** The run's source: the project's file, a draft or an earlier run. */
interface Wanted {
  account?: string
  project: string
  draft?: ProjectSpec
  run?: string
  change?: SpecChange
}

export function projectHandlers({
  accounts,
  platform,
  projects,
  secrets,
  store,
}: Services): HandlersOf<typeof projectCommands> {
  const runs = (account: string | undefined) => accounts.session(account).automations.projectRuns
  async function wanted({ change, ...asked }: Wanted) {
    const { spec, ...agreed } = await unchanged(asked)
    return { ...agreed, spec: changedSpec(spec, change) }
  }

  async function unchanged({ account, project, draft, run }: Omit<Wanted, 'change'>) {
    if (draft) {
      const { specText } = await import('../projects/write-spec.ts')
      return { ...agreementOf(specText(draft), draft), limits: undefined }
    }
    if (run === undefined) return { ...(await projects.read(project)), limits: undefined }
    const { text, spec, limits } = runs(account).agreed(run)
    return { ...agreementOf(text, spec), limits }
  }

  return {
    async addProject() {
      if (!platform.fileDialogs) throw new BerthError(noDialog)
      const folder = await platform.fileDialogs.chooseTarget()
      return folder && projects.add(folder.path)
    },
    addExample: () => projects.addExample(),
    readProject: ({ project }) => projects.refresh(project),
    async removeProject({ project }) {
      await projects.remove(project)
      for (const account of Object.keys(store.get().accounts))
        await accounts.find(account)?.automations.runs.waiting.endAllOf(project)
    },
    writeSpec: ({ project, spec, replaces }) => projects.write(project, spec, replaces),
    async planProject(asked, { by }) {
      const { account, project, offer } = asked
      const { spec, content, limits } = await wanted(asked)
      const plan = await needingPermission('misc', runs(account).plan(project, spec, { limits, offer, by }))
      return { ...plan, content, known: projects.isKnown(project, content) }
    },
    async runProject(asked, { by }) {
      const { account, project, content, limits, ...terms } = asked
      const { text, spec, content: now } = await wanted(asked)
      if (now !== content) throw new BerthError(specChanged)
      await projects.agree(project, content)
      const { offer, keeping, price, most, keptCost, volumeCost, leftCost, secretFiles, allow } = terms
      return runs(account).start({
        project,
        text,
        spec,
        offer,
        limits,
        keeping,
        price,
        most,
        keptCost,
        volumeCost,
        leftCost,
        secretFiles,
        allow,
        by,
      })
    },
    async readRunSpec({ account, run }) {
      return { text: runs(account).agreed(run).text }
    },
    async saveSecret({ name, value, project }) {
      await secrets.save(name, value)
      if (project !== undefined) await projects.allow(project, [{ use: secretUse(name) }])
    },
  }
}

/** Makes a local folder a project, for callers that may name paths; gives its id. Throws `no_such_folder`. */
export async function registerProject(
  { platform, projects }: Pick<Services, 'platform' | 'projects'>,
  folder: string,
): Promise<string> {
  await platform.syncedFolders.at(folder).list('')
  return projects.add(folder)
}

const noDialog = {
  code: 'no_dialog',
  message: 'A browser can’t give Berth access to a folder.',
  advice:
    'In a terminal, run berth project add and the folder. You can install the command berth in Settings, Other tools.',
}

export function sweepHandlers({ accounts }: Services): HandlersOf<typeof sweepCommands> {
  const of = (account: string | undefined) => accounts.session(account).automations
  return {
    stopSweep: ({ account, sweep }) => of(account).sweeps.stop(sweep),
    continueSweep: ({ account, sweep }) => of(account).sweeps.goOn(sweep),
    retrySweep: ({ account, sweep }) => of(account).sweeps.retry(sweep),
    dismissSweep: ({ account, sweep }) => of(account).sweeps.dismiss(sweep),
    endWaiting: ({ account, instance }) => of(account).runs.waiting.end(instance),
  }
}

export function runHandlers(parts: Services): HandlersOf<typeof runCommands> {
  const of = (account: string | undefined) => parts.accounts.session(account).automations.runs

  return {
    async startRun({ account, request }) {
      const { instance, rental, ...asked } = request
      const newRun = newRunOf(parts, asked)
      if (instance !== undefined) {
        const target = targetOf(parts, { account, instance })
        noteUser(parts, target.account, `Asked to run “${newRun.name}” on`, target.instance)
      } else if (rental !== undefined) parts.accounts.session(account).rentals.get(rental)
      const place = { instance, rental }
      return of(account).begin.start({ ...newRun, ...place })
    },
    cancelRun: ({ account, run }) => of(account).cancel(run),
    moveRun: ({ account, run }) => of(account).move(run),
    fetchRun: ({ account, run }) => of(account).fetch(run),
    endRun: ({ account, run }) => of(account).end(run),
    changeRun: ({ account, run, afterwards }) => of(account).change(run, afterwards),
    async retryRun({ account, run, into }) {
      const { sweep, step, instance } = of(account).get(run)
      if (sweep && step === 'failed' && instance === undefined)
        return parts.accounts.session(account).automations.sweeps.retry(sweep.id, sweep.index)
      return of(account).retry(run, into === undefined ? undefined : parts.folders.get(into).path)
    },
    giveUpFetch: ({ account, run }) => of(account).giveUpFetch(run),
    dismissRun: ({ account, run }) => of(account).dismiss(run),
    async followRun({ account, run, of: program }, { streams }) {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'Only a page can follow runs.' })
      const output = await of(account).output(run, program)
      const { from } = await pageOf(output, { before: output.next() })
      return { stream: streams.open(outputStream(output, from)), from }
    },
    readRun: async ({ account, run, of: program, place }) =>
      pageOf(await of(account).output(run, program), place),
    searchRun: async ({ account, run, of: program, text, before }) =>
      searchOutput(await of(account).output(run, program), text, before),
    downloadsFolder: async () => parts.platform.downloads.own,
  }
}

/** The stored form of a request. The download folder is fixed now, as shown to the user. */
export function newRunOf({ folders, platform }: Services, { into, name, ...request }: RunRequest): NewRun {
  const folder = into === undefined ? platform.downloads.own : folders.get(into).path
  return {
    ...request,
    name: name || titleOf(request.command),
    into: request.fetch === undefined ? undefined : folder,
  }
}

/** The first line of a command that is neither empty nor `#!`, cut to 60 characters. */
function titleOf(command: string): string {
  const line = command.split('\n').find(one => one.trim() !== '' && !one.startsWith('#!')) ?? 'Run'
  const plain = plainLine(line.trim())
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain
}
