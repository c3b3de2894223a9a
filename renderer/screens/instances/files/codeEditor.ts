import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { colours, editorTheme } from './editorTheme.ts'
import { languageOf } from './languages.ts'

interface Options {
  text: string
  /** The file's name, which determines the language. */
  name: string
  label: string
  onchange: (text: string) => void
  onsave: () => void
}

/** Milliseconds after Escape in which Tab leaves the text. */
const leaving = 2000

/** The search panel's texts, in sentence case. */
const phrases = {
  next: 'Next',
  previous: 'Previous',
  all: 'All',
  'match case': 'Match case',
  regexp: 'Regexp',
  'by word': 'Whole word',
  replace: 'Replace',
  'replace all': 'Replace all',
}

/** Opens an editor in an element; the answer closes it. Its styles are in a shadow root, which the policy allows. */
export function codeEditor(host: HTMLElement, { text, name, label, onchange, onsave }: Options): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true })
  const language = new Compartment()
  let escaped = Number.NEGATIVE_INFINITY
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        search({ top: true }),
        EditorState.phrases.of(phrases),
        indentUnit.of(indentOf(text, name)),
        EditorState.tabSize.of(4),
        syntaxHighlighting(colours),
        editorTheme,
        language.of([]),
        keymap.of([
          {
            key: 'Mod-s',
            run: () => {
              onsave()
              return true
            },
          },
          ...searchKeymap,
          ...historyKeymap,
          // Its Escape would simplify a selection, and then Tab would not leave the text.
          ...defaultKeymap.filter(({ key }) => key !== 'Escape'),
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-keyshortcuts': 'Control+S Meta+S' }),
        EditorView.updateListener.of(update => {
          if (update.docChanged) onchange(update.state.sliceDoc())
        }),
      ],
    }),
  })

  /** The first Escape lets Tab leave the text, or closes the search; only the next one reaches the dialog. */
  function keepEscape(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return
    if (event.defaultPrevented || event.timeStamp - escaped > leaving) event.stopPropagation()
    escaped = event.defaultPrevented ? Number.NEGATIVE_INFINITY : event.timeStamp
  }
  host.addEventListener('keydown', keepEscape)
  void languageOf(name)
    .then(found => view.dispatch({ effects: language.reconfigure(found) }))
    .catch(() => undefined)
  view.focus()
  return () => {
    host.removeEventListener('keydown', keepEscape)
    view.destroy()
  }
}

/** One step of indentation in a text: that of its first indented line, else the usual one for the file's name. */
export function indentOf(text: string, name: string): string {
  const begins = /^(\t| {2,8})(?=\S)/m.exec(text)?.[1]
  if (begins !== undefined) return begins
  if (/^makefile$/i.test(name)) return '\t'
  return name.endsWith('.py') ? '    ' : '  '
}
