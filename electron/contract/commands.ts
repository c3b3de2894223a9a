import * as v from 'valibot'
import { AccountId, InstanceId, RentalId } from './ids.ts'
import type { OfferView } from './offer.ts'
import { OfferQuery, type OffersAnswer, SavedQuery } from './offer.ts'
import { BidPrice, RentRequest } from './rental.ts'
import { Settings } from './settings.ts'
import type { ActivityEntry } from './state.ts'

/** A command of the page, the tray or a notification: the shape of its argument, and (as a type alone) its answer. */
export interface Command<Args extends v.GenericSchema = v.GenericSchema, Answer = unknown> {
  args: Args
  readonly answer?: Answer
}

function command<Entries extends v.ObjectEntries>(entries: Entries) {
  return {
    args: v.strictObject(entries),
    answers: <Answer>() =>
      ({ args: v.strictObject(entries) }) as Command<v.StrictObjectSchema<Entries, undefined>, Answer>,
  }
}

/** Without it, the account that is shown. */
const account = v.optional(AccountId)
const onInstance = { account, instance: InstanceId }
const onRental = { account, rental: RentalId }
const secret = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('give the API key'),
  v.maxLength(4096, 'an API key is shorter than that'),
  v.regex(/^[\x21-\x7e]+$/, 'an API key has no spaces and only plain characters'),
)
const name = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('give it a name'),
  v.maxLength(64, 'at most 64 characters'),
)
const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))
const StreamId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

/** Everything the page may ask for. Whatever carries a command, its argument is checked against the shape given here. */
export const commands = {
  // Accounts
  /** Checks the key against the current user and keeps it in the keychain; answers the new account. */
  connectAccount: command({
    baseUrl: v.pipe(v.string(), v.trim(), v.nonEmpty('give the base URL of the service'), v.maxLength(2048)),
    key: secret,
    name: v.optional(name),
  }).answers<AccountId>(),
  replaceKey: command({ account: AccountId, key: secret }).answers<void>(),
  renameAccount: command({ account: AccountId, name }).answers<void>(),
  /** Forgets the account here, its key included. What it rents goes on. */
  removeAccount: command({ account: AccountId }).answers<void>(),
  showAccount: command({ account: AccountId }).answers<void>(),
  /** Looks at the account at once. */
  refresh: command({ account }).answers<void>(),

  // Offers
  searchOffers: command({ account, query: OfferQuery }).answers<OffersAnswer>(),
  saveSearch: command({ name, search: SavedQuery }).answers<string>(),
  deleteSearch: command({ id: v.pipe(v.string(), v.maxLength(64)) }).answers<void>(),

  // Renting
  /** Answers once the intent is on disk; the rental goes on by itself and is told in State. With `replaces`, that instance is destroyed first. */
  rent: command({ account, request: RentRequest, replaces: v.optional(InstanceId) }).answers<string>(),
  /** Ends a rental under way; an instance it already has is destroyed. */
  cancelRental: command(onRental).answers<void>(),
  /** For a late rental: another deadline's time. */
  waitLonger: command(onRental).answers<void>(),
  /** For an unclear rental: which instance is the one, or none. */
  settleRental: command({ ...onRental, instance: v.nullable(InstanceId) }).answers<void>(),
  /** Takes a rental that has ended off the list. */
  dismissRental: command(onRental).answers<void>(),
  /** The best offer now like the machine this instance is on, and how it was rented, to fill the dialog with. */
  findReplacement: command(onInstance).answers<Replacement>(),

  // Instances
  stopInstance: command(onInstance).answers<void>(),
  startInstance: command(onInstance).answers<void>(),
  rebootInstance: command(onInstance).answers<void>(),
  destroyInstance: command(onInstance).answers<void>(),
  renameInstance: command({
    ...onInstance,
    label: v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters')),
  }).answers<void>(),
  changeBid: command({ ...onInstance, price: BidPrice }).answers<void>(), // dollars per hour, 0.001 to 32
  /** The service's whole record of it, unknown fields too, secrets masked. */
  instanceRecord: command(onInstance).answers<Record<string, unknown>>(),

  // Getting in
  /** Opens a shell; its bytes flow in the stream. The stream ends with a Problem when the connection does. */
  openTerminal: command({ ...onInstance, columns: size, rows: size }).answers<{
    stream: number
    address: string
    direct: boolean
  }>(),
  resizeTerminal: command({ stream: StreamId, columns: size, rows: size }).answers<void>(),
  /** Opens the system's own terminal program on it. */
  openSystemTerminal: command(onInstance).answers<void>(),
  sshCommand: command(onInstance).answers<string>(),
  /** Attaches Berth's key, or the one chosen in the settings. */
  attachKey: command(onInstance).answers<void>(),
  /** Accepts a host key that changed, by the fingerprint that was shown. */
  acceptHostKey: command({
    ...onInstance,
    fingerprint: v.pipe(v.string(), v.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'not a fingerprint')),
  }).answers<void>(),
  /** The keys that could get in: Berth's own and those in `~/.ssh`. Public halves only. */
  sshKeys: command({}).answers<readonly SshKey[]>(),

  // The rest
  changeSettings: command({ settings: v.partial(Settings) }).answers<void>(),
  /** Newest first; `before` is the id of the entry to go on from. */
  searchActivity: command({
    text: v.pipe(v.string(), v.maxLength(200)),
    before: v.optional(v.pipe(v.string(), v.maxLength(64))),
    limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(500)),
  }).answers<readonly ActivityEntry[]>(),
  /** A notice of the page was clicked, on its text or on one of its buttons. */
  answerNotice: command({
    id: v.pipe(v.string(), v.maxLength(200)),
    action: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
  dismissNotice: command({ id: v.pipe(v.string(), v.maxLength(200)) }).answers<void>(),
  /** Opens a web address in the user's browser. */
  openLink: command({
    url: v.pipe(
      v.string(),
      v.maxLength(2048),
      v.url(),
      v.regex(/^https?:/i, 'only web addresses are opened'),
    ),
  }).answers<void>(),
  /** The demo alone: makes something happen in its market. */
  demoEvent: command({
    event: v.picklist(['low_credit', 'top_up', 'outbid', 'crash', 'host_offline', 'hour_passes']),
    instance: v.optional(InstanceId),
  }).answers<void>(),
} satisfies Record<string, Command>

export interface Replacement {
  /** Absent when the market has nothing like it now. */
  offer?: OfferView
  request: Omit<RentRequest, 'offer'>
}

export interface SshKey {
  /** `berth`, or the file's name in `~/.ssh`. */
  name: string
  type: string
  fingerprint: string
  publicKey: string
  needsPassphrase: boolean
}

export type Commands = typeof commands
export type CommandName = keyof Commands
/** What a caller gives. */
export type Args<Name extends CommandName> = v.InferInput<Commands[Name]['args']>
/** What a handler gets. */
export type Checked<Name extends CommandName> = v.InferOutput<Commands[Name]['args']>
export type Answer<Name extends CommandName> = Commands[Name] extends Command<infer _, infer A> ? A : never

/** Berth as its callers see it: one method per command. Rejects with a Problem inside a CommandError. */
export type Berth = { [Name in CommandName]: (args: Args<Name>) => Promise<Answer<Name>> }
