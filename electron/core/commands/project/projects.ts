import type { projectCommands as declared } from '#contract/commands/project/projects.ts'
import { BerthError } from '#contract/problem.ts'
import type { ProjectSpec } from '#contract/project/spec.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { agreementOf } from '#core/projects/projects.ts'
import type { Parts } from '../parts.ts'

type ProjectCommands = HandlersOf<typeof declared>

/** What to run: the project's file, or a draft or an earlier run instead. */
interface Wanted {
  account?: string
  project: string
  draft?: ProjectSpec
  run?: string
}

export function projectHandlers({ accounts, machine, projects, secrets }: Parts): ProjectCommands {
  const runs = (account: string | undefined) => accounts.session(account).automations.projectRuns
  async function wanted({ account, project, draft, run }: Wanted) {
    if (draft) {
      const { specText } = await import('#core/projects/write-spec.ts')
      return { ...agreementOf(specText(draft), draft), stops: undefined }
    }
    if (run === undefined) return { ...(await projects.read(project)), stops: undefined }
    const { text, spec, stops } = runs(account).agreed(run)
    return { ...agreementOf(text, spec), stops }
  }

  return {
    async addProject() {
      if (!machine.fileDialogs) throw new BerthError(noDialog)
      const folder = await machine.fileDialogs.chooseTarget()
      return folder && projects.add(folder.path)
    },
    readProject: ({ project }) => projects.refresh(project),
    removeProject: ({ project }) => projects.remove(project),
    writeSpec: ({ project, spec }) => projects.write(project, spec),
    async planProject(asked) {
      const { account, project, offer } = asked
      const { spec, content, stops } = await wanted(asked)
      const plan = await needingPermission('misc', runs(account).plan(project, spec, { stops, offer }))
      return { ...plan, content, known: projects.isKnown(project, content) }
    },
    async runProject(asked) {
      const { account, project, offer, content, stops, keeping, price, secretFiles } = asked
      const { text, spec, content: now } = await wanted(asked)
      if (now !== content) throw new BerthError(specChanged)
      await projects.agree(project, content)
      return runs(account).start({ project, text, spec, offer, stops, keeping, price, secretFiles })
    },
    async readRunSpec({ account, run }) {
      return { text: runs(account).agreed(run).text }
    },
    saveSecret: ({ name, value }) => secrets.save(name, value),
  }
}

/** Makes a local folder a project, for callers that may name paths; gives its id. Throws `no_such_folder`. */
export async function registerProject(
  { machine, projects }: Pick<Parts, 'machine' | 'projects'>,
  folder: string,
): Promise<string> {
  await machine.syncedFolders.at(folder).list('')
  return projects.add(folder)
}

const noDialog = {
  code: 'no_dialog',
  message: 'A browser cannot choose a folder for Berth.',
  advice:
    'In a terminal: berth project add, and the folder. Settings, Other tools, installs the command berth.',
}
const specChanged = {
  code: 'spec_changed',
  message: 'berth.yaml has changed since you looked at it.',
  advice: 'Read it again, then run it.',
}
