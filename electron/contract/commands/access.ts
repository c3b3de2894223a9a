import * as v from 'valibot'
import {
  ChoiceId,
  FileTransferId,
  FileVersion,
  largestText,
  mostListed,
  PageFiles,
  PageFolders,
  type RemoteFolder,
  RemotePath,
} from '#shared/instance/files.ts'
import { KeyName } from '#shared/instance/ssh-key.ts'
import type { UploadPlan } from '#shared/instance/sync.ts'
import { type OpenedTerminal, type TmuxShell, TmuxShellName } from '#shared/instance/terminal.ts'
import type { AppLogin, OfferedPort, OpenedAddress } from '#shared/instance/tunnel.ts'
import type { UploadRules } from '#shared/instance/upload-plan.ts'
import { account, command, onInstance } from './command.ts'

const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))
const StreamId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

/** SSH access. */
export const accessCommands = {
  /**
   * Opens a shell on a stream, which ends with a Problem when the connection is lost. If shells live in tmux, it
   * resumes the one named `session`; without a name and unless `fresh`, any that nobody is connected to.
   */
  openTerminal: command({
    ...onInstance,
    columns: size,
    rows: size,
    session: v.optional(TmuxShellName),
    fresh: v.optional(v.boolean()),
    /** The page reopens it automatically, so this is no action of the user's. */
    again: v.optional(v.boolean()),
  }).answers<OpenedTerminal>(),
  /** The scrollback of a shell in tmux, at most `scrollback` lines, with its escape sequences. */
  shellHistory: command({ ...onInstance, session: TmuxShellName }).answers<string>(),
  /** The shells in the instance's tmux; no `shells` if it is not installed. `forNewShells`: new shells go there. */
  tmuxShells: command(onInstance).answers<{ forNewShells: boolean; shells?: readonly TmuxShell[] }>(),
  /** Sets whether this instance's shells live in tmux; without `keep`, the settings decide. */
  keepShells: command({ ...onInstance, keep: v.optional(v.boolean()) }).answers<void>(),
  resizeTerminal: command({ stream: StreamId, columns: size, rows: size }).answers<void>(),
  /** Opens SSH to it in a terminal program of this machine. */
  openSystemTerminal: command(onInstance).answers<void>(),
  sshCommand: command(onInstance).answers<string>(),
  /** The path of the private key that logs in to it, as one word of a POSIX shell. Throws `key_missing`. */
  sshKeyFile: command(onInstance).answers<string>(),
  /** Attaches a key, by default the one in the settings. */
  attachKey: command({ ...onInstance, key: v.optional(KeyName) }).answers<void>(),
  /** Accepts a changed host key with the fingerprint that was shown. */
  acceptHostKey: command({
    ...onInstance,
    fingerprint: v.pipe(v.string(), v.regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'not a fingerprint')),
  }).answers<void>(),
}

const port = v.pipe(
  v.number('a port is a number'),
  v.integer('a port is a whole number'),
  v.minValue(1, 'ports begin at 1'),
  v.maxValue(65_535, 'ports end at 65535'),
)

/** Web interfaces and other ports inside an instance. Progress is in the account's tunnels in State. */
export const tunnelCommands = {
  /**
   * Answers once Jupyter is ready, and opens it in the browser unless `open` is false. An open tunnel is used again.
   */
  openJupyter: command({ ...onInstance, open: v.optional(v.boolean()) }).answers<OpenedAddress>(),
  /** Opens a page that the image names, by that name. Throws `no_such_app`, `app_silent`. */
  openApp: command({ ...onInstance, app: v.pipe(v.string(), v.maxLength(64)) }).answers<OpenedAddress>(),
  /** The login in front of the image's pages, to show on request; undefined where there is none. Never noted. */
  appLogin: command(onInstance).answers<AppLogin | undefined>(),
  /** Forwards a port, and opens it in the browser if a web server answers. */
  openPort: command({ ...onInstance, port }).answers<OpenedAddress>(),
  /** Closes a tunnel, cancels one that is being opened, or removes a failed one. */
  closeTunnel: command({ ...onInstance, port }).answers<void>(),
  /** Tries the usual ports of web interfaces, and those that the instance was rented with. */
  findPorts: command(onInstance).answers<readonly OfferedPort[]>(),
}

export const editorCommands = {
  /**
   * Opens an editor of this machine on the instance, by default the one in the settings. Throws `ssh_config_off` while
   * the SSH config is off, `ssh_config_line_gone`, `no_editor`, `bad_address` and the errors of connecting.
   */
  openEditor: command({
    ...onInstance,
    editor: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
  /** Whether the user's SSH config includes Berth's file: false if the user has removed the line. */
  sshConfigIncluded: command({}).answers<boolean>(),
  /** Adds that line again. Throws `ssh_config_off`, `ssh_config_path` or `ssh_config_not_written`. */
  includeSshConfig: command({}).answers<void>(),
}

const paths = v.pipe(v.array(RemotePath), v.minLength(1, 'choose something first'), v.maxLength(10_000))
const onTransfer = { account, transfer: FileTransferId }

/** Files of an instance, over SFTP. Transfers are in State. No argument is a path on this machine. */
export const fileCommands = {
  /** By default the home folder. */
  listFiles: command({ ...onInstance, path: v.optional(RemotePath) }).answers<RemoteFolder>(),
  makeFolder: command({ ...onInstance, path: RemotePath }).answers<void>(),
  /** Refused if `to` exists. */
  renameFile: command({ ...onInstance, from: RemotePath, to: RemotePath }).answers<void>(),
  /** Folders with their content; of a link only the link. */
  deleteFiles: command({ ...onInstance, paths }).answers<void>(),
  /** Refused for a file that is too large or no text. */
  readTextFile: command({ ...onInstance, path: RemotePath }).answers<{
    text: string
    version: FileVersion
  }>(),
  /** Refused if the file has changed since `version`; without a version, always written. */
  writeTextFile: command({
    ...onInstance,
    path: RemotePath,
    text: v.pipe(v.string(), v.maxLength(largestText, 'too long for a small file')),
    version: v.optional(FileVersion),
  }).answers<FileVersion>(),

  /**
   * Shows the system's dialog; for folders, also returns the files that would be uploaded. Undefined if the user chose
   * nothing. Throws `no_dialog` in browser mode.
   */
  chooseFiles: command({ what: v.picklist(['files', 'folder']) }).answers<
    { choice: string; names: readonly string[]; plan?: UploadPlan } | undefined
  >(),
  /** Lets the user choose a folder for downloads. */
  chooseFolder: command({}).answers<{ choice: string; name: string } | undefined>(),
  /**
   * Uploads a choice; answers the transfer's id. Of the files in folders that look like secrets only those in
   * `confirmed` are sent, and files excluded by ignore rules only with `whole`. Throws `exists`, with the names, unless
   * `replace`.
   */
  uploadChosen: command({
    ...onInstance,
    folder: RemotePath,
    choice: ChoiceId,
    replace: v.boolean(),
    confirmed: v.optional(v.pipe(v.array(v.string()), v.maxLength(20_000))),
    whole: v.optional(v.boolean()),
  }).answers<string>(),
  /**
   * The files excluded by the ignore files among the page's files. `paths` are those of its files, `texts` those of the
   * ignore files by their paths. Git is not asked, as a page knows no folder of this computer. Throws `ignore_file`.
   */
  rulesInPage: command({
    paths: v.pipe(v.array(v.string()), v.maxLength(mostListed)),
    texts: v.pipe(
      v.record(v.string(), v.string()),
      v.check(texts => Object.keys(texts).length <= 2000, 'too many ignore files'),
    ),
  }).answers<UploadRules>(),
  /** Uploads files in the page, whose bytes are requested over the stream (instance/page-files.ts). */
  uploadFromPage: command({
    ...onInstance,
    folder: RemotePath,
    files: PageFiles,
    folders: PageFolders,
    replace: v.boolean(),
  }).answers<{ transfer: string; stream: number }>(),
  /** Downloads into a chosen folder; without `into`, answers an address for the browser that works once. */
  download: command({ ...onInstance, paths, into: v.optional(ChoiceId) }).answers<{
    transfer: string
    address?: string
  }>(),
  pauseFileTransfer: command(onTransfer).answers<void>(),
  resumeFileTransfer: command(onTransfer).answers<void>(),
  /** Deletes the unfinished file; complete files stay. */
  cancelFileTransfer: command(onTransfer).answers<void>(),
  dismissFileTransfer: command(onTransfer).answers<void>(),
}
