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
} from '#contract/instance/files.ts'
import type { UploadPlan } from '#contract/instance/sync.ts'
import type { UploadRules } from '#contract/instance/upload-plan.ts'
import { account, command, onInstance } from '../command.ts'

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
   * Shows the system's dialog; answers for folders also what would be uploaded. Undefined if the user chose nothing.
   * Throws `no_dialog` in browser mode.
   */
  chooseFiles: command({ what: v.picklist(['files', 'folder']) }).answers<
    { choice: string; names: readonly string[]; plan?: UploadPlan } | undefined
  >(),
  /** Lets the user choose a folder for downloads. */
  chooseFolder: command({}).answers<{ choice: string; name: string } | undefined>(),
  /**
   * Uploads a choice; answers the transfer's id. Of the files in folders that look like secrets only those in
   * `confirmed` are sent, and what ignore rules leave out only with `whole`. Throws `exists`, with the names, unless
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
   * What the ignore files among the page's files leave out. `paths` are those of its files, `texts` those of the ignore
   * files by their paths. Git is not asked, as a page knows no folder of this computer. Throws `ignore_file`.
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
