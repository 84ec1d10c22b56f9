#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The documents are true: links, named files, commands and options exist, and sessions print the shown text.
# No sentence has more than 25 words.
#
# A fenced block of language `console` is a session: a line that begins with `$ ` is a command, `> ` after
# it goes on with it, and what follows is what it prints, errors too. There a line `...` stands for any
# lines, and `...` within a line for any text. A command ends with 0, unless `$ echo $?` is the next one.
# All sessions of a document run in order, in one shell and one folder, which has the folders of the source
# tree in it and where `autotune` is the one under test. A block of another language whose first line is a
# comment with a file's name alone, as `/* use.c */` or `# Makefile`, is written to that file beforehand.
# Sessions show what NVRTC 13.0 compiles: with another, only the commands' exit codes are checked. Those of
# README.md run; with AUTOTUNE_TEST_WHOLE in the environment, those of all documents.

bats_require_minimum_version 1.5.0
load helpers
load helpers-documents

shown_nvrtc=13.0

setup_file() {
    find_nvrtc
}

setup() {
    export LC_ALL=C
    cd "$srcdir" || return 1
}

@test "links lead to files and headings that exist" {
    for_facts link check_link
}

@test "doc/README.md lists every document" {
    none "$(comm -23 <(cd doc && printf '%s\n' *.md | grep -vx README.md | sort) \
        <(facts link doc/README.md | cut -f 2 | sort -u))"
}

@test "links hold where the documents are installed" {
    is_long
    local file
    sed -n '/^nobase_dist_doc_DATA/,/^$/s/^ *\([^ ]\+\)\( \\\)*$/\1/p' data.am | while read -r file; do
        mkdir -p "$(dirname "$BATS_TEST_TMPDIR/installed/$file")"
        cp "$file" "$BATS_TEST_TMPDIR/installed/$file"
    done
    cd "$BATS_TEST_TMPDIR/installed"
    [ -f doc/tutorial.md ]
    for_facts link check_link
}

@test "the page of the Python package is one file, whose links are absolute" {
    cp "$(sed -n 's/^readme = "\(.*\)"/\1/p' pyproject.toml)" "$BATS_TEST_TMPDIR/README.md"
    cd "$BATS_TEST_TMPDIR"
    run -1 grep -F "](#" README.md
    for_facts link check_link
}

@test "files that are named exist" {
    for_facts file check_file
}

@test "commands that are named exist, and so do their options" {
    write_helps
    for_facts command check_command
}

@test "sessions are in blocks of language console or text" {
    for_facts session check_labelled
}

@test "sessions run, and print what they show" {
    need_nvrtc
    version=$(nvrtc_version)
    [ -n "$version" ]
    [ "$version" = "$shown_nvrtc" ] || export OTHER_NVRTC=1
    isolate
    none "$({ [ -n "$AUTOTUNE_TEST_WHOLE" ] && documents || echo README.md; } |
        while read -r document; do run_sessions "$document"; done)"
}

@test "sentences are short" {
    none "$(documents | while read -r document; do check_sentences "$document"; done)"
}

# Makes a tree with this document alone, README.md, and goes there.
make_tree() {
    mkdir -p "$BATS_TEST_TMPDIR"/tree/{doc,examples,python,results,src,templates,tests,tuning}
    cd "$BATS_TEST_TMPDIR/tree" || return 1
    cat >README.md
}

@test "these checks find links, files, commands and options that are wrong" {
    make_tree <<'DOCUMENT'
# One `heading`
[right](README.md#one-heading), [also](doc), `[no](link)`, [wrong
words](doc/none.md) and [wrong](#two-heading).

| `src/none.c` | `src/NAME.c` |
|---|---|
| `autotune show FILE` | `autotune none` |

`autotune tune
--none`, `FORCE=1 build/autotune tune --budget=5 | autotune merge --nothing`

```
$ autotune
```
DOCUMENT
    write_helps
    run -1 for_facts link check_link
    [ "$output" = "README.md:3: nothing at doc/none.md
README.md:3: no heading in README.md makes #two-heading" ]
    run -1 for_facts file check_file
    [ "$output" = "README.md:5: no file src/none.c" ]
    run -1 for_facts command check_command
    echo "$output"
    [ "$output" = "README.md:7: no command autotune none
README.md:9: autotune tune has no --none
README.md:10: autotune merge has no --nothing" ]
    run -1 for_facts session check_labelled
    [[ $output == 'README.md:13: a session'* ]]
}

@test "this check finds sentences that are too long" {
    make_tree <<'DOCUMENT'
# A heading may have as many words as one two three four five six seven eight nine ten eleven twelve thirteen

This sentence has exactly as many words as it may have, which is twenty and five and no more, with a `span of
code` and [one link](doc/with/a/target.md). So [this](README.md) ends.

- An item is text: this one has one two three four five six seven eight nine ten eleven twelve
  thirteen fourteen fifteen sixteen seventeen eighteen words. The next is short.
- A list of code has one word: `a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`, `i`, `j`, `k`, `l`, `m`, `n`, `o`, `p`, `q`, `r`.

| a table may have as many words as one two three four five six seven eight nine ten eleven twelve thirteen |
|---|

```text
A block of code may have as many words as one two three four five six seven eight nine ten eleven twelve thirteen.
```

One. Two! Three? "`Four`" is short. But one sentence goes on and on, over the end of a line, as in
the books of those who have never heard that readers get tired of that.
DOCUMENT
    run -0 check_sentences README.md
    echo "$output"
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == 'README.md:6: 26 words: An item is text: '*' eighteen words.' ]]
    [[ ${lines[1]} == 'README.md:17: 29 words: But one sentence goes on '*' tired of that.' ]]
}

@test "these checks find sessions that are wrong" {
    make_tree <<'DOCUMENT'
```sh
# numbers
4
5
```

```console
$ cat numbers.txt
4
$ seq 1 12
...
3
...
1...
12
$ cd doc && there=1
$ echo "${PWD##*/} $there" &&
> echo 3.25 s, 4 of 9
doc 1
... s, 4 of ...
$ false
$ (exit 3)
$ echo $?
3
```

```text
$ false
```

```c
/* numbers.txt */
```

```console
$ echo two; echo lines
two
$ echo 'cost 4 us'
cost ... ms
```
DOCUMENT
    run -0 run_sessions README.md
    echo "$output"
    [ "$(grep -c '^README' <<<"$output")" -eq 4 ]
    [[ $output == *'README.md:8: cat numbers.txt: printed something else'* ]]
    [[ $output == *'README.md:21: false: ended with 1'* ]]
    [[ $output == *'README.md:36: echo two; echo lines: printed something else'* ]]
    [[ $output == *"README.md:38: echo 'cost 4 us': printed something else"* ]]
}
