# bash(1): completion of holter, holterd, holter-agent and holter-view. The programs list their commands, options and values.
_holter() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local program=("$1") names= name letter values i
    if [[ ${1##*/} == holter ]]; then
        if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
            names=$("$1" --list-options 2>/dev/null | cut -f 1)
            ((COMP_CWORD > 1)) || names+=" help --help --version"
            mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
            return
        fi
        program+=("${COMP_WORDS[1]}")
    fi
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then # a command follows
            ! declare -F _command_offset >/dev/null || _command_offset $((i + 1))
            return
        fi
    done
    while read -r name letter values; do
        if [[ $values != none && ($previous == "$name" || $previous == "$letter") ]]; then
            [[ $values == any ]] || mapfile -t COMPREPLY < <(compgen -W "${values//,/ }" -- "$word")
            return
        fi
        names+=" $name"
    done < <("${program[@]}" --list-options 2>/dev/null)
    [[ $word != -* ]] || mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
}
complete -o default -F _holter holter holterd holter-agent holter-view
