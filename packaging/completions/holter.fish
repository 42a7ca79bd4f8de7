# fish(1): completion of holter, holterd, holter-agent and holter-view. The programs list their commands, options and values.
function __holter_options
    set -l words (commandline -opc)
    set -l program $words[1]
    if test (string replace -r '.*/' '' -- $words[1]) = holter
        set program $words[1..2]
    end
    set -l names
    for line in ($program --list-options 2>/dev/null)
        set -l fields (string split ' ' -- $line)
        if test $fields[3] != none; and contains -- $words[-1] $fields[1 2]
            test $fields[3] = any; or string split ',' -- $fields[3]
            return
        end
        set -a names $fields[1]
    end
    printf '%s\n' $names
end
complete -c holter -n __fish_use_subcommand -f -a '(holter --list-options 2>/dev/null)'
complete -c holter -n __fish_use_subcommand -f -a help -d 'show the manual page of a command'
complete -c holter -n '__fish_seen_subcommand_from help' -f -a '(holter --list-options 2>/dev/null)'
complete -c holter -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from help' -a '(__holter_options)'
for program in holterd holter-agent holter-view
    complete -c $program -a '(__holter_options)'
end
