import * as v from 'valibot'
import { ApiKeyRequest, type ApiKeyView, type NewApiKey } from '#shared/account/api-key.ts'
import {
  type MachineAnswer,
  type MachineView,
  NetworkDiskRequest,
  type NetworkDiskView,
  type VolumeView,
  WorkergroupRequest,
  type WorkergroupView,
} from '#shared/account/hosting.ts'
import {
  type NewWebhook,
  NotificationPreferences,
  WebhookFields,
  type WebhookView,
} from '#shared/account/notifications.ts'
import type { BackupView, NotedCallView, ScheduledJobView } from '#shared/account/records.ts'
import { type CloudConnectionView, CopyRequest, SyncRequest, TransferId } from '#shared/account/transfer.ts'
import {
  BackupCode,
  ChallengeSecret,
  type LoginAnswer,
  MethodLabel,
  NewMethod,
  Proof,
  SixDigits,
  SmsRequest,
  type TwoFactorMethod,
  type TwoFactorStatus,
} from '#shared/account/two-factor.ts'
import { given, name, ServiceId } from '#shared/fields.ts'
import { AccountId } from '#shared/ids.ts'
import { type AttachedKey, KeyName, NewKeyName, Passphrase, type SshKey } from '#shared/instance/ssh-key.ts'
import type { MoneyHistory } from '#shared/spending/history.ts'
import { account, command } from './command.ts'

const secret = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('enter the API key'),
  v.maxLength(4096, 'an API key is shorter than that'),
  v.regex(/^[\x21-\x7e]+$/, 'an API key has no spaces and only plain characters'),
)

/** The user's accounts. */
export const accountCommands = {
  /** Checks the key by reading the current user and stores it in the keychain; answers the new account's id. */
  connectAccount: command({
    baseUrl: v.pipe(v.string(), v.trim(), v.nonEmpty('enter the base URL of the service'), v.maxLength(2048)),
    key: secret,
    name: v.optional(name),
  }).answers<AccountId>(),
  /** Answers what the new key can't do, as a sentence, as far as is known. */
  replaceKey: command({ account: AccountId, key: secret }).answers<string | undefined>(),
  renameAccount: command({ account: AccountId, name }).answers<void>(),
  /** Removes the account from Berth, its key included. Its instances continue. */
  removeAccount: command({ account: AccountId }).answers<void>(),
  showAccount: command({ account: AccountId }).answers<void>(),
  /** Polls the account now. */
  refresh: command({ account }).answers<void>(),
}

/** The account's API keys, and its own SSH keys. */
export const keyCommands = {
  listApiKeys: command({ account }).answers<readonly ApiKeyView[]>(),
  /** Only this answer has the secret. */
  createApiKey: command({ account, request: ApiKeyRequest }).answers<NewApiKey>(),
  /**
   * Answers whether a later list lacks it; until one does, it is requested again. Throws `not_supported` where the
   * service cannot.
   */
  deleteApiKey: command({ account, id: ServiceId }).answers<boolean>(),
  /** Keys that the service installs on every new instance. Throws `not_supported` where it has none. */
  listAccountSshKeys: command({ account }).answers<
    readonly { id?: number; publicKey: string; name?: string }[]
  >(),
  addAccountSshKey: command({ account, publicKey: given('a public key', 16_384) }).answers<void>(),
  /** New instances no longer get it. Throws `not_supported`. */
  deleteAccountSshKey: command({ account, id: ServiceId }).answers<void>(),
}

/** SSH keys. Private halves and passphrases come in here and never go out. */
export const sshKeyCommands = {
  /** Berth's keys for the shown account, the SSH agent's, and those in `~/.ssh`. Public halves only. */
  sshKeys: command({}).answers<readonly SshKey[]>(),
  /** Unlocks a key for this session; `keep` stores the passphrase in the keychain. Throws `wrong_passphrase`. */
  unlockKey: command({ key: KeyName, passphrase: Passphrase, keep: v.boolean() }).answers<void>(),
  /** Forgets its passphrase. */
  lockKey: command({ key: KeyName }).answers<void>(),
  /**
   * Adds a private key to Berth's: a text, or the `file` from `chooseKeyFile`. Answers its name. Throws `not_a_key`,
   * `key_exists`, `key_locked` if a passphrase is needed to read it, and `wrong_passphrase`.
   */
  importKey: command({
    name: NewKeyName,
    from: v.union([
      v.strictObject({ text: v.pipe(v.string(), v.nonEmpty('paste the private key'), v.maxLength(65_536)) }),
      v.strictObject({ file: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) }),
    ]),
    passphrase: v.optional(Passphrase),
  }).answers<string>(),
  /** Lets the user choose a file in a dialog of the main process; `file` is its id. Empty if none was chosen. */
  chooseKeyFile: command({}).answers<{ file?: number; name?: string }>(),
  /** Makes another key, and answers its name. Throws `key_exists`. */
  generateKey: command({ name: NewKeyName }).answers<string>(),
  /** Deletes an imported or made key; if it was chosen, Berth's own is chosen instead. Throws `key_not_removable`. */
  removeKey: command({ key: KeyName }).answers<void>(),
  /** The keys that Berth attached, by the instance's id. */
  attachedKeys: command({ account }).answers<Readonly<Record<number, readonly AttachedKey[]>>>(),
}

/** Two-factor authentication (section 4.7). Secrets and codes in answers are shown once and not stored. */
export const twoFactorCommands = {
  twoFactorStatus: command({ account }).answers<TwoFactorStatus>(),
  /** Logs in with an API key that requires it; the session key goes into the keychain and is used from then on. */
  twoFactorLogin: command({ account, proof: Proof, admin: v.boolean() }).answers<LoginAnswer>(),
  /** With the secret of an earlier code, sends a new one for the same purpose. */
  sendEmailCode: command({ account, secret: v.optional(ChallengeSecret) }).answers<{ secret: string }>(),
  sendSmsCode: command({ account, request: SmsRequest }).answers<{ secret: string }>(),
  resendSmsCode: command({ account, request: SmsRequest }).answers<{ secret: string }>(),
  /** An authenticator's secret (base32), and the otpauth address for the QR code. */
  setUpTotp: command({ account }).answers<{ secret: string; uri: string }>(),
  /** Requests to add a method. By a code: answers `secret`, for `confirmNewMethods`. By a backup code: `granted`. */
  authorizeNewMethod: command({
    account,
    by: v.variant('with', [
      v.object({ with: v.picklist(['sms', 'totp', 'email']), method: v.optional(ServiceId) }),
      v.object({ with: v.literal('backup'), backupCode: BackupCode }),
    ]),
  }).answers<{ secret?: string; granted: boolean }>(),
  confirmNewMethods: command({ account, code: SixDigits, secret: ChallengeSecret }).answers<void>(),
  /** The first method's answer has the backup codes, only once. */
  addMethod: command({ account, method: NewMethod }).answers<{ backupCodes?: readonly string[] }>(),
  updateMethod: command({
    account,
    method: ServiceId,
    label: v.optional(MethodLabel),
    primary: v.optional(v.boolean()),
  }).answers<TwoFactorMethod>(),
  removeMethod: command({ account, proof: Proof, method: v.optional(ServiceId) }).answers<{
    remaining: number
  }>(),
  regenerateBackupCodes: command({ account, proof: Proof }).answers<readonly string[]>(),
}

/** The history of spending and credit. */
export const moneyCommands = {
  /** At most `samples` samples of equal length since `from` (epoch seconds, account time), and the last `days`. */
  moneyHistory: command({
    account,
    from: v.pipe(v.number(), v.finite(), v.minValue(0)),
    samples: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5000)),
    days: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5000)),
  }).answers<MoneyHistory>(),
  /** A CSV table by day, by day and model or instance, or every five minutes. Exact amounts in dollars. */
  spendingTable: command({
    account,
    rows: v.picklist(['days', 'models', 'instances', 'samples']),
  }).answers<string>(),
}

/** The service's own notifications (sections 2.7, 2.8 and 6). */
export const notificationCommands = {
  /** Throws `not_supported` where they can only be written. */
  readPreferences: command({ account }).answers<NotificationPreferences>(),
  /** Changes those that are given; replaces them all where they can only be written. */
  changePreferences: command({
    account,
    preferences: NotificationPreferences,
  }).answers<NotificationPreferences>(),
  listWebhooks: command({ account }).answers<readonly WebhookView[]>(),
  /** Only this answer has the secret. */
  createWebhook: command({ account, fields: WebhookFields }).answers<NewWebhook>(),
  /** Likewise; it signs later deliveries. Throws `not_supported` where there is none. */
  rotateWebhookSecret: command({ account, id: ServiceId }).answers<NewWebhook>(),
  /** Makes the service call the address once. Throws `not_supported` where it cannot. */
  testWebhook: command({ account, id: ServiceId }).answers<void>(),
  /** `enabled`: the notification preferences that the service switched on with it. */
  updateWebhook: command({ account, id: ServiceId, changes: v.partial(WebhookFields) }).answers<{
    webhook: WebhookView
    enabled: readonly string[]
  }>(),
  deleteWebhook: command({ account, id: ServiceId }).answers<void>(),
}

const VariableName = v.pipe(
  v.string(),
  v.trim(),
  v.regex(/^[A-Za-z_]\w*$/, 'letters, digits and _, not beginning with a digit'),
  v.maxLength(256, 'at most 256 characters'),
)
const VariableValue = v.pipe(
  v.string(),
  v.nonEmpty('enter its value'),
  v.maxLength(16_384, 'at most 16,384 characters'),
)

/**
 * The account's environment variables, which every new container gets; `not_supported` where the service has none. Their
 * values go in and never come out.
 */
export const variableCommands = {
  /** Names, sorted. */
  listVariables: command({ account }).answers<readonly string[]>(),
  /** Throws `refused` for a name that is there. */
  addVariable: command({ account, name: VariableName, value: VariableValue }).answers<void>(),
  changeVariable: command({ account, name: VariableName, value: VariableValue }).answers<void>(),
  deleteVariable: command({ account, name: VariableName }).answers<void>(),
}

/** What the service does for the account by itself, and has noted of it; `not_supported` where it has none. */
export const recordCommands = {
  /** The service's backups of what was lost with its machine; `not_supported` where it has none. */
  listBackups: command({ account }).answers<readonly BackupView[]>(),
  listScheduledJobs: command({ account }).answers<readonly ScheduledJobView[]>(),
  deleteScheduledJob: command({ account, id: ServiceId }).answers<void>(),
  /** The newest first, at most 50. */
  listNotedCalls: command({ account }).answers<readonly NotedCallView[]>(),
}

/** Volumes of the account; `not_supported` where the service has none. */
export const volumeCommands = {
  listVolumes: command({ account }).answers<readonly VolumeView[]>(),
  /** Deletes all data on it. Refused while an instance mounts it. Answers as `deleteApiKey` does. */
  deleteVolume: command({ account, id: ServiceId }).answers<boolean>(),
}

/** Copies and cloud syncs (section 4.3). Those that Berth started are in State. */
export const transferCommands = {
  /** The account's cloud connections; none where the service does not list them. */
  listCloudConnections: command({ account }).answers<readonly CloudConnectionView[]>(),
  startCopy: command({ account, request: CopyRequest }).answers<string>(),
  /** With an API key of its own, which has only the necessary permissions and is deleted afterwards. */
  startSync: command({ account, request: SyncRequest }).answers<string>(),
  /** You can’t resume a cancelled sync, only start it again. */
  cancelTransfer: command({ account, transfer: TransferId }).answers<void>(),
  dismissTransfer: command({ account, transfer: TransferId }).answers<void>(),
}

/** Hosting and serverless endpoints (sections 4.4 and 4.6). Not every service can list: `not_supported`. */
export const hostingCommands = {
  listMachines: command({ account }).answers<readonly MachineView[]>(),
  cancelMaintenance: command({ account, machine: ServiceId }).answers<MachineAnswer>(),
  cleanUpMachine: command({ account, machine: ServiceId }).answers<MachineAnswer>(),
  listNetworkDisks: command({ account }).answers<readonly NetworkDiskView[]>(),
  addNetworkDisk: command({ account, request: NetworkDiskRequest }).answers<{ disk: number }>(),
  listWorkergroups: command({ account }).answers<readonly WorkergroupView[]>(),
  createWorkergroup: command({ account, request: WorkergroupRequest }).answers<WorkergroupView>(),
}
