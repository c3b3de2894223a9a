import * as v from 'valibot'
import {
  ChoiceId,
  FileTransferId,
  FileVersion,
  largestText,
  PageFiles,
  PageFolders,
  type RemoteFolder,
  RemotePath,
} from '../../instance/files.ts'
import { account, command, onInstance } from '../command.ts'

const paths = v.pipe(v.array(RemotePath), v.minLength(1, 'choose something first'), v.maxLength(10_000))
const onTransfer = { account, transfer: FileTransferId }

/** Files of an instance, over SFTP. Transfers are in State; no argument is a path of this machine. */
export const fileCommands = {
  /** Without a path, the home folder. */
  listFiles: command({ ...onInstance, path: v.optional(RemotePath) }).answers<RemoteFolder>(),
  makeFolder: command({ ...onInstance, path: RemotePath }).answers<void>(),
  /** Refused when something is there already. */
  renameFile: command({ ...onInstance, from: RemotePath, to: RemotePath }).answers<void>(),
  /** Folders with all that is in them; of a link, the link alone. */
  deleteFiles: command({ ...onInstance, paths }).answers<void>(),
  /** Refused for what is too large or no text. */
  readTextFile: command({ ...onInstance, path: RemotePath }).answers<{
    text: string
    version: FileVersion
  }>(),
  /** Refused when the file is no longer of the version that was read; without one, it is written all the same. */
  writeTextFile: command({
    ...onInstance,
    path: RemotePath,
    text: v.pipe(v.string(), v.maxLength(largestText, 'too long for a small file')),
    version: v.optional(FileVersion),
  }).answers<FileVersion>(),

  /** Shows the system's dialog. Undefined when the user chose nothing. Throws `no_dialog` in browser mode. */
  chooseFiles: command({ what: v.picklist(['files', 'folder']) }).answers<
    { choice: string; names: readonly string[] } | undefined
  >(),
  /** The folder to put downloads into. */
  chooseFolder: command({}).answers<{ choice: string; name: string } | undefined>(),
  /** Sends what was chosen. Throws `exists`, with the names, unless it may replace them. Answers the transfer's id. */
  uploadChosen: command({
    ...onInstance,
    folder: RemotePath,
    choice: ChoiceId,
    replace: v.boolean(),
  }).answers<string>(),
  /** The same for what the page holds; its bytes flow in the stream as they are asked for (contract/page-files.ts). */
  uploadFromPage: command({
    ...onInstance,
    folder: RemotePath,
    files: PageFiles,
    folders: PageFolders,
    replace: v.boolean(),
  }).answers<{ transfer: string; stream: number }>(),
  /** Into what was chosen; without a choice, answers the address at which the browser gets it, once. */
  download: command({ ...onInstance, paths, into: v.optional(ChoiceId) }).answers<{
    transfer: string
    address?: string
  }>(),
  pauseFileTransfer: command(onTransfer).answers<void>(),
  resumeFileTransfer: command(onTransfer).answers<void>(),
  /** What has arrived of a file under way goes; whole files stay. */
  cancelFileTransfer: command(onTransfer).answers<void>(),
  dismissFileTransfer: command(onTransfer).answers<void>(),
}
