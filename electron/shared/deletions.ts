import { limitsSet } from './automation/limit.ts'
import { named } from './format/name.ts'
import { counted } from './format/size.ts'
import type { AccountView } from './state.ts'

/** The question before something is spent or lost. Page, tray, notifications and command ask it in the same words. */
export interface Question {
  title: string
  /** The label of the button that does it. */
  verb: string
  /** What is lost and what is paid for, a sentence or two each. */
  lines: readonly string[]
  /** Whether something is lost for good, or spent against advice: its button is red. */
  grave: boolean
}

/** One dangerous action. */
export interface Danger<Subject> {
  /** Whether it is sent after five seconds in which it can be undone. */
  undo: boolean
  /** Undefined where it needs none. `now`: epoch seconds of the account's time. */
  question: (account: AccountView, subject: Subject, now: number) => Question | undefined
}

/** What each deletion is done to. */
export interface DeletionSubjects {
  deleteVolume: { name: string; room: string | undefined }
  deleteTemplate: { name: string; hasReadme: boolean; isUsed: boolean }
  deleteSecret: { name: string }
  /** Its machines on all accounts, by their names. */
  removeSpender: { name: string; machines: readonly string[] }
  deleteVariable: { name: string }
  deleteScheduledJob: { name: string }
  deleteAccountSshKey: { name: string }
  /** `inUse`: whether Berth uses it; undefined where the service doesn't say which key that is. */
  deleteApiKey: { id: number; name?: string; inUse: boolean | undefined }
  deleteWebhook: { id: number; name?: string }
  /** A new signing secret takes the place of the old one. */
  replaceWebhookSecret: { name: string }
}

export const noUndo = 'You can’t undo this.'

/** Why the demo's own key stays: no other one can take its place. */
export const demosOwnKey = 'The demo uses its own key.'

/** The deletions of what is no instance. None can be undone. */
export const deletions: { [Action in keyof DeletionSubjects]: Danger<DeletionSubjects[Action]> } = {
  deleteVolume: forGood((_account, { name, room }) => ({
    title: `Delete ${name}?`,
    verb: 'Delete volume',
    lines: [`Everything on ${room ? `its ${room}` : 'it'} is lost, and you stop paying for it. ${noUndo}`],
  })),
  deleteTemplate: forGood((_account, { name, hasReadme, isUsed }) => ({
    title: `Delete ${name}?`,
    verb: 'Delete template',
    lines: [
      `The template is deleted for everyone${hasReadme ? ', including its readme' : ''}. ${noUndo}`,
      ...(isUsed ? ['Instances made from it stay as they are.'] : []),
    ],
  })),
  deleteSecret: forGood((_account, { name }) => ({
    title: `Delete ${name}?`,
    verb: 'Delete',
    lines: [`Projects that use it ask for its value again before they run. ${noUndo}`],
  })),
  removeSpender: {
    undo: false,
    question: (_account, { name, machines }) =>
      machines.length === 0
        ? undefined
        : {
            title: `Remove ${name}?`,
            verb: 'Remove',
            lines: [
              `${name} has ${counted(machines.length, 'machine')}: ${named(machines, { most: 8 })}.`,
              `${
                machines.length === 1 ? 'It runs' : 'They run'
              } on without its caps: Berth no longer stops ${machines.length === 1 ? 'it' : 'them'} when one is reached.`,
            ],
            grave: true,
          },
  },
  deleteVariable: forGood((_account, { name }) => ({
    title: `Delete ${name}?`,
    verb: 'Delete variable',
    lines: [`New containers no longer get it. ${noUndo}`],
  })),
  deleteScheduledJob: forGood((_account, { name }) => ({
    title: `Delete the job “${name}”?`,
    verb: 'Delete job',
    lines: [`The service no longer does it. ${noUndo}`],
  })),
  deleteAccountSshKey: forGood((_account, { name }) => ({
    title: `Delete ${name}?`,
    verb: 'Delete key',
    lines: [`New instances no longer let it in. Those that have it already keep it. ${noUndo}`],
  })),
  deleteApiKey: forGood((account, { id, name, inUse }) => ({
    title: `Delete ${name ? `“${name}”` : `key #${id}`}?`,
    verb: 'Delete key',
    lines: [`Anything that uses it stops working. ${noUndo}`, ...berthsKeyWords(account, inUse)],
  })),
  deleteWebhook: forGood((_account, { id, name }) => ({
    title: `Delete webhook ${name ?? `#${id}`}?`,
    verb: 'Delete webhook',
    lines: [`The service stops calling its address. ${noUndo}`],
  })),
  replaceWebhookSecret: forGood((_account, { name }) => ({
    title: `Create a new secret for ${name}?`,
    verb: 'Create a new secret',
    lines: ['New messages are signed with it. Until your receiver has it, it rejects them.'],
  })),
}

function forGood<Subject>(
  question: (account: AccountView, subject: Subject) => Omit<Question, 'grave'>,
): Danger<Subject> {
  return { undo: false, question: (account, subject) => ({ ...question(account, subject), grave: true }) }
}

/** What Berth can no longer do without the key. */
function berthsKeyWords(account: AccountView, inUse: boolean | undefined): string[] {
  const set = limitsSet([account]).length
  const limits = set > 0 ? `${counted(set, 'limit')} can’t act` : ''
  if (inUse === undefined && limits) return [`If Berth uses this key, ${limits} until you enter another.`]
  if (!inUse) return []
  return [
    `Berth uses this key. Without it, Berth can’t reach the account until you enter another${limits && `, and ${limits}`}.`,
  ]
}
