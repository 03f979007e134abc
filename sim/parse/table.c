/* CREATE TABLE and ALTER TABLE: columns and constraints. */
#include "sim/parse/parse_internal.h"

/* WITH (...), WITH FILLFACTOR = n, ON filegroup: where and how an index is stored. */
static bool skip_storage(Parser *parser)
{
    for (;;) {
        if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
            advance(parser);
            if (!skip_parens(parser)) return false;
        } else if (is_keyword(parser, KW_WITH) && is_keyword_at(parser, 1, KW_FILLFACTOR)) {
            advance(parser);
            advance(parser);
            int64_t ignored;
            if (!expect_op(parser, '=') || !parse_integer(parser, &ignored)) return false;
        } else if (is_keyword(parser, KW_ON)) {
            advance(parser);
            Str ignored;
            if (peek(parser, 0)->kind == TOKEN_STRING)
                advance(parser);
            else if (!expect_name(parser, &ignored))
                return false;
            if (is_op(parser, '(') && !skip_parens(parser)) return false;
        } else {
            return true;
        }
    }
}

bool parse_key_columns(Parser *parser, KeyColumnList *out)
{
    if (!expect_op(parser, '(')) return false;
    do {
        KeyColumn column = {0};
        if (!expect_name(parser, &column.name)) return false;
        if (accept_keyword(parser, KW_DESC))
            column.descending = true;
        else
            (void)accept_keyword(parser, KW_ASC);
        *LIST_PUSH(parser->arena, out) = column;
    } while (accept_op(parser, ','));
    return expect_op(parser, ')');
}

/* PRIMARY KEY or UNIQUE with CLUSTERED and its columns, which a column's own constraint leaves
 * out. */
static bool parse_key_constraint(Parser *parser, ConstraintDef *constraint, Str own_column)
{
    constraint->kind = is_keyword(parser, KW_PRIMARY) ? CONSTRAINT_PRIMARY_KEY : CONSTRAINT_UNIQUE;
    advance(parser);
    if (constraint->kind == CONSTRAINT_PRIMARY_KEY && !expect_keyword(parser, KW_KEY)) return false;
    if (is_keyword(parser, KW_CLUSTERED) || is_keyword(parser, KW_NONCLUSTERED)) {
        constraint->clustering_given = true;
        constraint->is_clustered     = is_keyword(parser, KW_CLUSTERED);
        advance(parser);
    }
    if (own_column.len > 0 && !is_op(parser, '(')) {
        KeyColumn column                                = {.name = own_column};
        *LIST_PUSH(parser->arena, &constraint->columns) = column;
    } else if (!parse_key_columns(parser, &constraint->columns)) {
        return false;
    }
    return skip_storage(parser);
}

/* INDEX name [UNIQUE] [CLUSTERED] (columns), which an index at a column leaves out. */
static bool parse_inline_index(Parser *parser, ConstraintDef *constraint, Str own_column)
{
    constraint->kind             = CONSTRAINT_INDEX;
    constraint->clustering_given = true;
    advance(parser);
    if (!expect_name(parser, &constraint->name)) return false;
    constraint->is_unique    = accept_keyword(parser, KW_UNIQUE);
    constraint->is_clustered = accept_keyword(parser, KW_CLUSTERED);
    if (!constraint->is_clustered) (void)accept_keyword(parser, KW_NONCLUSTERED);
    if (is_word(parser, "COLUMNSTORE")) return not_supported(parser, "a COLUMNSTORE index");
    if (is_word(parser, "HASH")) return not_supported(parser, "a HASH index");
    if (own_column.len > 0 && !is_op(parser, '(')) {
        KeyColumn column                                = {.name = own_column};
        *LIST_PUSH(parser->arena, &constraint->columns) = column;
    } else if (!parse_key_columns(parser, &constraint->columns)) {
        return false;
    }
    if (is_keyword(parser, KW_INCLUDE) || is_keyword(parser, KW_WHERE))
        return not_supported(parser, "an INDEX inside a table definition with INCLUDE or WHERE");
    return skip_storage(parser);
}

static bool parse_check(Parser *parser, ConstraintDef *constraint)
{
    constraint->kind = CONSTRAINT_CHECK;
    advance(parser);
    if (accept_keyword(parser, KW_NOT)) {
        if (!expect_keyword(parser, KW_FOR) || !expect_keyword(parser, KW_REPLICATION))
            return false;
    }
    size_t start = peek(parser, 0)->start;
    if (!expect_op(parser, '(')) return false;
    constraint->expr = parse_condition(parser);
    if (constraint->expr == NULL || !expect_op(parser, ')')) return false;
    constraint->text = str_slice(parser->lexer.source, start,
                                 parser->tokens.items[parser->at - 1].end);
    return true;
}

/* REFERENCES table [(columns)] [ON DELETE NO ACTION] ... */
static bool parse_references(Parser *parser, ConstraintDef *constraint)
{
    if (!expect_keyword(parser, KW_REFERENCES)) return false;
    constraint->kind = CONSTRAINT_FOREIGN_KEY;
    if (!parse_object_name(parser, &constraint->referenced)) return false;
    if (is_op(parser, '(') && !parse_name_list(parser, &constraint->referenced_columns))
        return false;
    while (is_keyword(parser, KW_ON) || is_keyword(parser, KW_NOT)) {
        if (is_keyword(parser, KW_NOT)) {
            if (!is_keyword_at(parser, 1, KW_FOR)) return true; /* NOT NULL of the column */
            advance(parser);
            advance(parser);
            if (!expect_keyword(parser, KW_REPLICATION)) return false;
            continue;
        }
        if (!is_keyword_at(parser, 1, KW_DELETE) && !is_keyword_at(parser, 1, KW_UPDATE))
            return true;
        advance(parser);
        advance(parser);
        if (!accept_word(parser, "NO"))
            return not_supported(parser, "a FOREIGN KEY with CASCADE, SET NULL or SET DEFAULT");
        if (!accept_word(parser, "ACTION")) return syntax_error(parser);
    }
    return true;
}

static bool parse_foreign_key(Parser *parser, ConstraintDef *constraint, Str own_column)
{
    if (accept_keyword(parser, KW_FOREIGN) && !expect_keyword(parser, KW_KEY)) return false;
    if (is_op(parser, '(')) {
        NameList names = {0};
        if (!parse_name_list(parser, &names)) return false;
        for (size_t i = 0; i < names.count; i++) {
            KeyColumn column                                = {.name = names.items[i]};
            *LIST_PUSH(parser->arena, &constraint->columns) = column;
        }
    } else if (own_column.len > 0) {
        KeyColumn column                                = {.name = own_column};
        *LIST_PUSH(parser->arena, &constraint->columns) = column;
    } else {
        return syntax_error(parser);
    }
    return parse_references(parser, constraint);
}

static bool parse_constraint_name(Parser *parser, Str *out)
{
    *out = STR_EMPTY;
    return !accept_keyword(parser, KW_CONSTRAINT) || expect_name(parser, out);
}

static bool starts_table_constraint(Parser *parser)
{
    return is_keyword(parser, KW_CONSTRAINT) || is_keyword(parser, KW_PRIMARY) ||
           is_keyword(parser, KW_UNIQUE) || is_keyword(parser, KW_CHECK) ||
           is_keyword(parser, KW_FOREIGN) || is_keyword(parser, KW_DEFAULT) ||
           is_keyword(parser, KW_INDEX) ||
           (is_word(parser, "PERIOD") && is_keyword_at(parser, 1, KW_FOR));
}

static bool parse_table_constraint(Parser *parser, ConstraintDefList *out)
{
    ConstraintDef constraint = {.for_column = STR_EMPTY, .line = line_of(parser)};

    if (!parse_constraint_name(parser, &constraint.name)) return false;
    if (is_keyword(parser, KW_PRIMARY) || is_keyword(parser, KW_UNIQUE)) {
        if (!parse_key_constraint(parser, &constraint, STR_EMPTY)) return false;
    } else if (is_keyword(parser, KW_CHECK)) {
        if (!parse_check(parser, &constraint)) return false;
    } else if (accept_keyword(parser, KW_DEFAULT)) {
        constraint.kind = CONSTRAINT_DEFAULT;
        constraint.expr = parse_expr(parser);
        if (constraint.expr == NULL || !expect_keyword(parser, KW_FOR) ||
            !expect_name(parser, &constraint.for_column))
            return false;
        if (is_keyword(parser, KW_WITH) && is_keyword_at(parser, 1, KW_VALUES)) {
            advance(parser);
            advance(parser);
        }
    } else if (is_keyword(parser, KW_FOREIGN)) {
        if (!parse_foreign_key(parser, &constraint, STR_EMPTY)) return false;
    } else if (is_keyword(parser, KW_INDEX) && str_is_empty(constraint.name)) {
        if (!parse_inline_index(parser, &constraint, STR_EMPTY)) return false;
    } else if (is_word(parser, "PERIOD")) {
        return not_supported(parser, "PERIOD FOR SYSTEM_TIME");
    } else {
        return syntax_error(parser);
    }
    *LIST_PUSH(parser->arena, out) = constraint;
    return true;
}

/* --- columns --- */
static bool parse_identity(Parser *parser, ColumnDef *column)
{
    column->is_identity   = true;
    column->identity_seed = 1;
    column->identity_step = 1;
    advance(parser);
    if (accept_op(parser, '(')) {
        if (!parse_integer(parser, &column->identity_seed) || !expect_op(parser, ',')) return false;
        if (!parse_integer(parser, &column->identity_step) || !expect_op(parser, ')')) return false;
    }
    return true;
}

static bool parse_default(Parser *parser, ColumnDef *column, Str name)
{
    advance(parser);
    column->default_value = parse_expr(parser);
    column->default_name  = name;
    if (column->default_value == NULL) return false;
    if (is_keyword(parser, KW_WITH) && is_keyword_at(parser, 1, KW_VALUES)) {
        column->with_values = true;
        advance(parser);
        advance(parser);
    }
    return true;
}

/* One option behind the type; *found_out false when there is none. */
static bool parse_column_option(Parser *parser, ColumnDef *column, ConstraintDefList *constraints,
                                bool *found_out)
{
    ConstraintDef constraint = {.for_column = STR_EMPTY, .line = line_of(parser)};

    *found_out = true;
    if (accept_keyword(parser, KW_COLLATE)) return expect_name(parser, &column->collation);
    if (is_keyword(parser, KW_IDENTITY)) return parse_identity(parser, column);
    if (is_keyword(parser, KW_NOT) && is_keyword_at(parser, 1, KW_FOR)) { /* NOT FOR REPLICATION */
        advance(parser);
        advance(parser);
        return expect_keyword(parser, KW_REPLICATION);
    }
    if (is_keyword(parser, KW_NOT) || is_keyword(parser, KW_NULL)) {
        column->nullability_given = true;
        column->is_nullable       = !accept_keyword(parser, KW_NOT);
        return expect_keyword(parser, KW_NULL);
    }
    if (accept_keyword(parser, KW_ROWGUIDCOL)) return true;
    if (accept_keyword(parser, KW_PERSISTED)) {
        column->is_persisted = true;
        return true;
    }
    if (is_keyword(parser, KW_SPARSE)) return not_supported(parser, "a SPARSE column");
    if (is_word(parser, "MASKED") || is_word(parser, "ENCRYPTED") || is_word(parser, "GENERATED") ||
        is_word(parser, "FILESTREAM"))
        return not_supported(parser, "a MASKED, ENCRYPTED, GENERATED or FILESTREAM column");
    if (!parse_constraint_name(parser, &constraint.name)) return false;
    if (is_keyword(parser, KW_DEFAULT)) return parse_default(parser, column, constraint.name);
    if (is_keyword(parser, KW_INDEX) && str_is_empty(constraint.name)) {
        if (!parse_inline_index(parser, &constraint, column->name)) return false;
    } else if (is_keyword(parser, KW_PRIMARY) || is_keyword(parser, KW_UNIQUE)) {
        if (!parse_key_constraint(parser, &constraint, column->name)) return false;
    } else if (is_keyword(parser, KW_CHECK)) {
        if (!parse_check(parser, &constraint)) return false;
        constraint.for_column = column->name;
    } else if (is_keyword(parser, KW_REFERENCES) || is_keyword(parser, KW_FOREIGN)) {
        if (!parse_foreign_key(parser, &constraint, column->name)) return false;
    } else {
        *found_out = false;
        return constraint.name.len == 0 || syntax_error(parser);
    }
    *LIST_PUSH(parser->arena, constraints) = constraint;
    return true;
}

static bool parse_column_def(Parser *parser, ColumnDef *column, ConstraintDefList *constraints)
{
    bool found = true;

    *column = (ColumnDef){.line         = line_of(parser),
                          .is_nullable  = true,
                          .default_name = STR_EMPTY,
                          .collation    = STR_EMPTY};
    if (!expect_name(parser, &column->name)) return false;
    if (accept_keyword(parser, KW_AS)) {
        column->computed = parse_expr(parser);
        if (column->computed == NULL) return false;
    } else if ((is_op(parser, ',') || is_op(parser, ')')) &&
               str_equal_ignoring_case(column->name, STR("timestamp"))) {
        column->type = sim_type(SIM_ROWVERSION); /* a column of that name and type */
    } else if (!parse_type(parser, false, &column->type)) {
        return false;
    }
    while (found) {
        if (!parse_column_option(parser, column, constraints, &found)) return false;
    }
    return true;
}

bool parse_table_elements(Parser *parser, ColumnDefList *columns, ConstraintDefList *constraints,
                          bool in_parens)
{
    for (;;) {
        if (starts_table_constraint(parser)) {
            if (!parse_table_constraint(parser, constraints)) return false;
        } else {
            ColumnDef column;
            if (!parse_column_def(parser, &column, constraints)) return false;
            *LIST_PUSH(parser->arena, columns) = column;
            /* A constraint may follow a column without a comma. */
            if (in_parens && starts_table_constraint(parser)) continue;
        }
        if (!accept_op(parser, ',')) return true;
        if (in_parens && is_op(parser, ')')) return true; /* a comma at the end is taken */
    }
}

/* --- CREATE TABLE --- */
static bool parse_table_options(Parser *parser)
{
    for (;;) {
        if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
            const Token *word = peek(parser, 2);
            if (word->kind == TOKEN_WORD &&
                (str_equal_ignoring_case(word->text, STR("MEMORY_OPTIMIZED")) ||
                 str_equal_ignoring_case(word->text, STR("SYSTEM_VERSIONING"))))
                return not_supported(parser, "a memory-optimized or temporal table");
            advance(parser);
            if (!skip_parens(parser)) return false;
        } else if (is_word(parser, "TEXTIMAGE_ON") || is_word(parser, "FILESTREAM_ON")) {
            advance(parser);
            advance(parser);
        } else if (is_keyword(parser, KW_ON)) {
            if (!skip_storage(parser)) return false;
        } else {
            return true;
        }
    }
}

Stmt *parse_create_table(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_TABLE);

    advance(parser);
    if (!parse_object_name(parser, &stmt->object)) return NULL;
    if (is_keyword(parser, KW_AS)) {
        (void)not_supported(parser, "CREATE TABLE AS");
        return NULL;
    }
    if (!expect_op(parser, '(')) return NULL;
    if (!parse_table_elements(parser, &stmt->column_defs, &stmt->constraints, true)) return NULL;
    if (!expect_op(parser, ')') || !parse_table_options(parser)) return NULL;
    return stmt;
}

/* --- ALTER TABLE --- */
static bool parse_add(Parser *parser, Stmt *stmt)
{
    if (!parse_table_elements(parser, &stmt->column_defs, &stmt->constraints, false)) return false;
    stmt->alter = stmt->column_defs.count > 0 ? ALTER_ADD_COLUMN : ALTER_ADD_CONSTRAINT;
    return true;
}

static bool parse_drop_part(Parser *parser, Stmt *stmt)
{
    if (is_word(parser, "PERIOD")) return not_supported(parser, "PERIOD FOR SYSTEM_TIME");
    stmt->alter = accept_keyword(parser, KW_COLUMN) ? ALTER_DROP_COLUMN : ALTER_DROP_CONSTRAINT;
    if (stmt->alter == ALTER_DROP_CONSTRAINT) (void)accept_keyword(parser, KW_CONSTRAINT);
    if (accept_keyword(parser, KW_IF)) {
        if (!expect_keyword(parser, KW_EXISTS)) return false;
        stmt->if_exists = true;
    }
    do {
        Str name;
        if (is_keyword(parser, KW_COLUMN) || is_keyword(parser, KW_CONSTRAINT))
            return not_supported(parser, "dropping columns and constraints in one statement");
        if (!expect_name(parser, &name)) return false;
        *LIST_PUSH(parser->arena, &stmt->columns) = name;
        if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
            advance(parser);
            if (!skip_parens(parser)) return false;
        }
    } while (accept_op(parser, ','));
    stmt->name = stmt->columns.items[0];
    return true;
}

static bool parse_alter_column(Parser *parser, Stmt *stmt)
{
    ColumnDef column = {.line         = line_of(parser),
                        .is_nullable  = true,
                        .default_name = STR_EMPTY,
                        .collation    = STR_EMPTY};

    stmt->alter = ALTER_ALTER_COLUMN;
    if (!expect_name(parser, &column.name)) return false;
    if (is_keyword(parser, KW_ADD) || is_keyword(parser, KW_DROP))
        return not_supported(parser, "ALTER COLUMN ADD or DROP");
    if (!parse_type(parser, false, &column.type)) return false;
    if (accept_keyword(parser, KW_COLLATE) && !expect_name(parser, &column.collation)) return false;
    if (is_keyword(parser, KW_NOT) || is_keyword(parser, KW_NULL)) {
        column.nullability_given = true;
        column.is_nullable       = !accept_keyword(parser, KW_NOT);
        if (!expect_keyword(parser, KW_NULL)) return false;
    }
    if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
        advance(parser);
        if (!skip_parens(parser)) return false;
    }
    *LIST_PUSH(parser->arena, &stmt->column_defs) = column;
    return true;
}

static bool skip_partition(Parser *parser)
{
    int64_t number;

    return !accept_word(parser, "PARTITION") || parse_integer(parser, &number);
}

/* Which tables take part; what with partitions is the executor's to refuse. */
static bool parse_switch(Parser *parser, Stmt *stmt)
{
    stmt->alter = ALTER_SWITCH;
    return skip_partition(parser) && expect_keyword(parser, KW_TO) &&
           parse_object_name(parser, &stmt->output_into) && skip_partition(parser);
}

static bool parse_alter_action(Parser *parser, Stmt *stmt)
{
    if (accept_keyword(parser, KW_ADD)) return parse_add(parser, stmt);
    if (accept_keyword(parser, KW_DROP)) return parse_drop_part(parser, stmt);
    if (accept_keyword(parser, KW_ALTER))
        return expect_keyword(parser, KW_COLUMN) && parse_alter_column(parser, stmt);
    if (is_keyword(parser, KW_WITH) &&
        (is_keyword_at(parser, 1, KW_CHECK) || is_keyword_at(parser, 1, KW_NOCHECK))) {
        bool unchecked = is_keyword_at(parser, 1, KW_NOCHECK);
        advance(parser);
        advance(parser);
        if (accept_keyword(parser, KW_ADD)) {
            if (!parse_add(parser, stmt)) return false;
            for (size_t i = 0; i < stmt->constraints.count; i++)
                stmt->constraints.items[i].is_unchecked = unchecked;
            return true;
        }
        stmt->default_values = !unchecked; /* WITH CHECK CHECK CONSTRAINT looks at the rows */
    }
    if (is_keyword(parser, KW_CHECK) || is_keyword(parser, KW_NOCHECK)) {
        stmt->alter                             = ALTER_ENABLE_CONSTRAINT;
        *LIST_PUSH(parser->arena, &stmt->words) = is_keyword(parser, KW_CHECK) ? STR("CHECK")
                                                                               : STR("NOCHECK");
        advance(parser);
        if (!expect_keyword(parser, KW_CONSTRAINT)) return false;
        do {
            Str name = STR_EMPTY; /* ALL */
            if (!accept_keyword(parser, KW_ALL) && !expect_name(parser, &name)) return false;
            *LIST_PUSH(parser->arena, &stmt->columns) = name;
        } while (accept_op(parser, ','));
        return true;
    }
    if (accept_word(parser, "SWITCH")) return parse_switch(parser, stmt);
    if (is_word(parser, "REBUILD")) return not_supported(parser, "ALTER TABLE REBUILD");
    if (is_keyword(parser, KW_SET)) return not_supported(parser, "ALTER TABLE SET");
    if (is_keyword(parser, KW_ENABLE) || is_keyword(parser, KW_DISABLE))
        return not_supported(parser, "triggers and change tracking");
    return syntax_error(parser);
}

Stmt *parse_alter_table(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_ALTER_TABLE);

    advance(parser);
    if (!parse_object_name(parser, &stmt->object)) return NULL;
    return parse_alter_action(parser, stmt) ? stmt : NULL;
}
