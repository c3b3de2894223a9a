import { SvelteSet } from 'svelte/reactivity'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import type { PageStream } from '#renderer/bridge/stream.ts'
import { type FileSort, type Sorting, sortEntries } from '#renderer/features/files/entries.ts'
import { joined } from '#shared/instance/file-names.ts'
import {
  decodeRequest,
  encodeAnswerHead,
  isUnreadable,
  type PieceRequest,
  type RemoteEntry,
  type RemoteFolder,
  requestLength,
  unreadable,
} from '#shared/instance/files.ts'
import type { UploadPlan } from '#shared/instance/sync.ts'
import type { UploadChoice } from '#shared/instance/upload-plan.ts'
import type { Problem } from '#shared/problem.ts'
import { type Collected, fromDrag, planOf } from './collect.ts'

/** The dialog to show. */
export type FilesAsk =
  | { kind: 'new-folder' }
  | { kind: 'rename'; name: string }
  | { kind: 'delete'; names: readonly string[] }
  | {
      kind: 'upload'
      name: string
      into: string
      plan: UploadPlan
      go: (choice: UploadChoice) => Promise<unknown>
    }
  | { kind: 'replace'; problem: Problem; go: () => Promise<unknown> }

/** The file browser of one instance. It keeps its folder while the page shows other things. */
export class FilesView {
  readonly instance: number
  readonly #page: Page
  readonly #account: string
  folder: RemoteFolder | undefined = $state.raw()
  problem: Problem | undefined = $state.raw()
  loading = $state(false)
  selected = new SvelteSet<string>()
  sorting: Sorting = $state({ by: 'name', down: false })
  ask: FilesAsk | undefined = $state.raw()
  #asked: string | undefined
  #turn = 0
  #opening = Promise.resolve()

  constructor(page: Page, account: string, instance: number) {
    this.#page = page
    this.#account = account
    this.instance = instance
  }

  /** Not `$derived`: a view outlives the component that made it, and a derived value would stop updating with that. */
  get rows(): RemoteEntry[] {
    return sortEntries(this.folder?.entries ?? [], this.sorting)
  }

  get on() {
    return { account: this.#account, instance: this.instance }
  }

  /** Lists a folder; by default the last one, or home. Waits for a later call, too, whose folder is shown instead. */
  async open(path: string | undefined = this.#asked): Promise<void> {
    let opening = this.#list(path)
    this.#opening = opening
    for (;;) {
      await opening
      if (this.#opening === opening) return
      opening = this.#opening
    }
  }

  async #list(path: string | undefined): Promise<void> {
    const turn = ++this.#turn
    const moved = path !== this.folder?.path
    this.#asked = path
    this.loading = true
    try {
      const folder = await this.#page.berth.listFiles({ ...this.on, path })
      if (turn !== this.#turn) return
      this.folder = folder
      this.#asked = folder.path
      this.problem = undefined
      const names = new Set(folder.entries.map(({ name }) => name))
      for (const name of [...this.selected]) if (moved || !names.has(name)) this.selected.delete(name)
    } catch (error) {
      if (turn === this.#turn) this.problem = answerProblem(error)
    } finally {
      if (turn === this.#turn) this.loading = false
    }
  }

  /** The full path of a name in the folder that is shown. */
  path(name: string): string {
    return joined(this.folder?.path ?? '/', name)
  }

  sortBy(by: FileSort): void {
    this.sorting = this.sorting.by === by ? { by, down: !this.sorting.down } : { by, down: by !== 'name' }
  }

  /** Selects or clears all; entries with an unreadable name are never selected. */
  selectAll(on: boolean): void {
    this.selected.clear()
    if (on) for (const { name } of this.rows) if (!isUnreadable(name)) this.selected.add(name)
  }

  /** Uploads the page's files into the shown folder; asks before, if there are folders among them. */
  async uploadCollected(collected: Collected): Promise<void> {
    const { files, folders } = collected
    const into = this.folder?.path
    if (files.length + folders.length === 0 || into === undefined) return
    if (folders.length === 0) return this.#send(collected, into)
    const planned = await this.#page.attempt(planOf(collected, found => this.#page.berth.rulesInPage(found)))
    if (!planned) return
    const tops = new Set([...folders, ...files.map(({ about }) => about.path)].map(([top = '']) => top))
    this.ask = {
      kind: 'upload',
      name: tops.size === 1 ? [...tops].join('') : `${tops.size} items`,
      into,
      plan: planned.plan,
      go: choice => {
        const made = folders.filter(path => planned.hasFolder(path, choice))
        return this.#send({ folders: made, files: planned.filesOf(choice) }, into)
      },
    }
  }

  async #send(collected: Collected, folder: string, replace = false): Promise<void> {
    const { files, folders } = collected
    await this.#orAsk(
      async () => {
        const letGo = this.#page.hold('upload')
        try {
          const { stream } = await this.#page.berth.uploadFromPage({
            ...this.on,
            folder,
            files: files.map(({ about }) => about),
            folders,
            replace,
          })
          serveFiles(
            this.#page.stream(stream),
            files.map(({ file }) => file),
            letGo,
          )
        } catch (error) {
          letGo()
          throw error
        }
      },
      () => this.#send(collected, folder, true),
    )
  }

  /** Uploads files or a folder that the user chooses in the system's dialog. */
  async uploadChosen(what: 'files' | 'folder'): Promise<void> {
    const chosen = await this.#page.attempt(this.#page.berth.chooseFiles({ what }))
    const folder = this.folder?.path
    if (!chosen || folder === undefined) return
    const { choice, names, plan } = chosen
    const send = ({ confirmed, whole }: UploadChoice) => {
      const upload = { ...this.on, folder, choice, confirmed: [...confirmed], whole }
      return this.#orAsk(
        () => this.#page.berth.uploadChosen({ ...upload, replace: false }),
        () => this.#page.berth.uploadChosen({ ...upload, replace: true }),
      )
    }
    if (!plan) return send({ confirmed: [], whole: true })
    const name = names.length === 1 ? names.join('') : `${names.length} items`
    this.ask = { kind: 'upload', name, into: folder, plan, go: send }
  }

  /** Downloads into a folder from the system's dialog, or by the browser. */
  async download(names: readonly string[]): Promise<void> {
    const { berth } = this.#page
    const paths = names.map(name => this.path(name))
    if (this.#page.state?.app.shell === 'electron') {
      const into = await this.#page.attempt(berth.chooseFolder({}))
      if (into) await this.#page.attempt(berth.download({ ...this.on, paths, into: into.choice }))
      return
    }
    const answer = await this.#page.attempt(berth.download({ ...this.on, paths }))
    if (!answer?.address) return
    const link = document.createElement('a')
    link.href = answer.address
    link.download = ''
    link.click()
  }

  async #orAsk(doing: () => Promise<unknown>, go: () => Promise<unknown>): Promise<void> {
    try {
      await doing()
    } catch (error) {
      const problem = answerProblem(error)
      if (problem.code === 'exists') this.ask = { kind: 'replace', problem, go }
      else await this.#page.attempt(Promise.reject(error))
    }
  }
}

const views = new Map<string, FilesView>()

/** The view of an instance, the same one each time. */
export function filesView(page: Page, account: string, instance: number): FilesView {
  const key = `${account}/${instance}`
  const view = views.get(key) ?? new FilesView(page, account, instance)
  views.set(key, view)
  return view
}

/** Uploads what was dropped on an instance into the folder that was shown last, or home, and shows it. */
export async function uploadDropped(
  page: Page,
  account: string,
  instance: number,
  items: DataTransferItemList,
): Promise<void> {
  const view = filesView(page, account, instance)
  const collected = await page.attempt(fromDrag(items))
  if (!collected) return
  route.go(`instances/${instance}/files`)
  if (!view.folder) await view.open()
  await view.uploadCollected(collected)
}

/** Sends the main process the pieces of files that it requests in the stream, until the stream ends, as `ended` hears. */
export function serveFiles(
  stream: Pick<PageStream, 'read' | 'write' | 'consumed'>,
  files: readonly Blob[],
  ended: () => void,
): void {
  let waiting = new Uint8Array(0)
  let answered: Promise<void> = Promise.resolve()
  let hasEnded = false

  stream.read(
    bytes => {
      stream.consumed(bytes.length)
      const all = new Uint8Array(waiting.length + bytes.length)
      all.set(waiting)
      all.set(bytes, waiting.length)
      let at = 0
      for (; all.length - at >= requestLength; at += requestLength) answer(decodeRequest(all.subarray(at)))
      waiting = all.slice(at)
    },
    () => {
      hasEnded = true
      ended()
    },
  )

  /** Pieces are read concurrently, and sent in the order of the requests. */
  function answer({ request, file, offset, length }: PieceRequest): void {
    const reading = readPiece(files[file], offset, length)
    answered = answered.then(async () => {
      const bytes = await reading
      if (hasEnded) return
      stream.write(encodeAnswerHead(request, bytes?.length ?? unreadable))
      if (bytes) stream.write(bytes)
    })
  }
}

/** Undefined where the file cannot be read any more. */
async function readPiece(
  file: Blob | undefined,
  offset: number,
  length: number,
): Promise<Uint8Array | undefined> {
  try {
    return file && new Uint8Array(await file.slice(offset, offset + length).arrayBuffer())
  } catch {
    return undefined
  }
}
